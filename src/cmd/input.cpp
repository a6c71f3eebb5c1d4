#include "cmd/input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "cmd/errors.hpp"
#include "cmd/render.hpp"

namespace notify {
namespace {

constexpr std::size_t kBlock = 256 * 1024;

}  // namespace

Input::Input(int fd, Fd owned, std::string name)
    : fd_(fd), owned_(std::move(owned)), name_(std::move(name)), block_(kBlock, '\0') {}

Result<Input> Input::open(const std::string& path, Context& context) {
  if (path == "-") return Input(context.input(), Fd(), "standard input");
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    Error error = file_error("cannot read " + path, errno);
    error.hint = "name a file that this user can read, or - for standard input";
    return fail(std::move(error));
  }
  if (struct stat info{}; fstat(file.get(), &info) == 0 && S_ISDIR(info.st_mode))
    return fail(Code::kBadInput, "cannot read " + path + ": it is a directory", "name a file in it");
  const int number = file.get();
  return Input(number, std::move(file), path);
}

bool Input::pauses(Duration patience) const {
  pollfd item{fd_, POLLIN, 0};
  return ::poll(&item, 1, static_cast<int>(patience.count())) == 0;
}

Result<std::string_view> Input::read() {
  while (true) {
    const ssize_t got = ::read(fd_, block_.data(), block_.size());
    if (got >= 0) return std::string_view(block_.data(), static_cast<std::size_t>(got));
    if (errno == EAGAIN)
      (void)pauses(Duration(-1));
    else if (errno != EINTR)
      return fail(input_error("cannot read " + name_, errno));
  }
}

Result<std::string> read_whole(Input& input, std::size_t max) {
  std::string text;
  while (true) {
    TRY_ASSIGN(const std::string_view bytes, input.read());
    if (bytes.empty()) return text;
    text += bytes;
    if (text.size() > max)
      return fail(Code::kBadInput, input.name() + " has more than " + std::to_string(max) + " bytes",
                  "so much a message may have; send a link to the rest");
  }
}

void report_line(Context& context, Output& json, std::string_view source, std::int64_t line, const Error& error) {
  if (context.json()) {
    nlohmann::ordered_json detail{{"code", code_name(error.code)}, {"field", error.field}, {"message", error.message}};
    for (const auto& [name, value] : error.details) detail[name] = value;
    return json.line(to_text({{"line", line}, {"error", std::move(detail)}}));
  }
  context.err().line(std::string(source) + ":" + std::to_string(line) + ": " + printable(described(error)));
}

}  // namespace notify
