#include "sys/wal_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string_view>

#include "sys/files.hpp"

namespace notify {
namespace {

constexpr Duration kPollWithoutInotify{1000};
// After a write: how long until each further look. The sum outlasts the sync of a slow disk.
constexpr std::array kLooks{Duration(1),  Duration(3),   Duration(8),  Duration(20),
                            Duration(50), Duration(120), Duration(800)};
constexpr std::size_t kFirstSlowLook = 3;

struct Path {
  std::string directory;
  std::string name;
};

Path split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

struct WalWatch::Impl {
  Impl(Loop& event_loop, const std::string& database_path, std::function<void()> on_change)
      : loop(event_loop), path(split(resolved_path(database_path) + "-wal")), changed(std::move(on_change)) {}

  bool open();
  void watch_file();
  void read_events();
  void handle(const inotify_event& event);
  void written();
  void look_at(Duration delay);
  void look();
  void poll();

  Loop& loop;
  Path path;
  std::function<void()> changed;
  Fd inotify{};
  int directory_watch = -1;
  int file_watch = -1;
  std::size_t next_look = kLooks.size();  // into kLooks, of the look after the one that is set
  Loop::Timer timer = 0;
  Duration pending{0};              // what the timer was set to
  bool closed_or_replaced = false;  // seen among the events just read: visible already
  bool modified = false;
};

bool WalWatch::Impl::open() {
  inotify = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify) return false;
  directory_watch = ::inotify_add_watch(inotify.get(), path.directory.c_str(),
                                        IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR);
  if (directory_watch < 0) {
    inotify.reset();
    return false;
  }
  watch_file();
  loop.watch(inotify.get(), [this] { read_events(); });
  return true;
}

// Watched by itself, so that the other files of the directory wake nobody.
void WalWatch::Impl::watch_file() {
  const std::string file = path.directory + '/' + path.name;
  file_watch = ::inotify_add_watch(inotify.get(), file.c_str(), IN_MODIFY | IN_CLOSE_WRITE);
}

void WalWatch::Impl::read_events() {
  alignas(inotify_event) char buffer[4096];
  modified = false;
  closed_or_replaced = false;
  for (;;) {
    const ssize_t n = ::read(inotify.get(), buffer, sizeof buffer);
    if (n <= 0) break;
    for (ssize_t at = 0; at < n;) {
      inotify_event event{};
      std::memcpy(&event, buffer + at, sizeof event);
      const char* name = buffer + at + sizeof event;
      const bool ours = event.wd != directory_watch || (event.len > 0 && path.name == name);
      if (ours || (event.mask & IN_Q_OVERFLOW) != 0) handle(event);
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
  if (modified || closed_or_replaced) written();
}

void WalWatch::Impl::handle(const inotify_event& event) {
  if (event.wd == directory_watch || (event.mask & IN_Q_OVERFLOW) != 0) {
    // Made anew or gone: commits may lie between the making and the watching.
    watch_file();
    closed_or_replaced = true;
  } else if (event.wd == file_watch && (event.mask & IN_CLOSE_WRITE) != 0) {
    closed_or_replaced = true;
  } else if (event.wd == file_watch && (event.mask & IN_MODIFY) != 0) {
    modified = true;
  }
}

void WalWatch::Impl::written() {
  next_look = 1;
  // A connection closes after its commit, so that one can be seen at once.
  look_at(closed_or_replaced ? Duration(0) : kLooks[0]);
}

void WalWatch::Impl::look_at(Duration delay) {
  // A look that comes as soon is left alone: put off by each of a quick row of writes, it would never come.
  if (timer != 0 && pending <= delay) return;
  loop.cancel(timer);
  pending = delay;
  timer = loop.after(delay, [this] { look(); });
}

void WalWatch::Impl::look() {
  timer = 0;
  if (next_look < kLooks.size()) look_at(kLooks[next_look++]);
  changed();
}

void WalWatch::Impl::poll() {
  timer = loop.after(kPollWithoutInotify, [this] {
    poll();
    changed();
  });
}

WalWatch::WalWatch(Loop& loop, const std::string& database_path, std::function<void()> changed)
    : impl_(std::make_unique<Impl>(loop, database_path, std::move(changed))) {
  if (!impl_->open()) impl_->poll();
}

WalWatch::~WalWatch() {
  impl_->loop.cancel(impl_->timer);
  if (impl_->inotify) impl_->loop.unwatch(impl_->inotify.get());
}

void WalWatch::settled() {
  Impl& impl = *impl_;
  if (!watching() || impl.timer == 0 || impl.pending >= kLooks[kFirstSlowLook]) return;
  impl.loop.cancel(impl.timer);
  impl.timer = 0;
  impl.next_look = kFirstSlowLook + 1;
  impl.look_at(kLooks[kFirstSlowLook]);
}

bool WalWatch::watching() const noexcept { return static_cast<bool>(impl_->inotify); }

}  // namespace notify
