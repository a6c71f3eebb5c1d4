#include "store/filesystem.hpp"

#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace notify {
namespace {

enum class Nature { kLocal, kNetwork, kFuse };

struct Known {
  unsigned type;
  std::string_view name;
  Nature nature;
};

// From statfs(2) and the kernel's magic.h.
constexpr std::array kKnown{
    Known{0xEF53, "ext4", Nature::kLocal},           Known{0x58465342, "xfs", Nature::kLocal},
    Known{0x9123683E, "btrfs", Nature::kLocal},      Known{0x2FC12FC1, "zfs", Nature::kLocal},
    Known{0xF2F52010, "f2fs", Nature::kLocal},       Known{0xCA451A4E, "bcachefs", Nature::kLocal},
    Known{0x01021994, "tmpfs", Nature::kLocal},      Known{0x858458F6, "ramfs", Nature::kLocal},
    Known{0x794C7630, "overlay", Nature::kLocal},    Known{0xF15F, "ecryptfs", Nature::kLocal},
    Known{0x6969, "nfs", Nature::kNetwork},          Known{0x517B, "smb", Nature::kNetwork},
    Known{0xFF534D42, "cifs", Nature::kNetwork},     Known{0xFE534D42, "smb2", Nature::kNetwork},
    Known{0x01021997, "9p", Nature::kNetwork},       Known{0x5346414F, "afs", Nature::kNetwork},
    Known{0x6B414653, "kafs", Nature::kNetwork},     Known{0x00C36400, "ceph", Nature::kNetwork},
    Known{0x73757245, "coda", Nature::kNetwork},     Known{0x564C, "ncp", Nature::kNetwork},
    Known{0x01161970, "gfs2", Nature::kNetwork},     Known{0x7461636F, "ocfs2", Nature::kNetwork},
    Known{0x0BD00BD0, "lustre", Nature::kNetwork},   Known{0x47504653, "gpfs", Nature::kNetwork},
    Known{0x20030528, "orangefs", Nature::kNetwork}, Known{0x786F4256, "vboxsf", Nature::kNetwork},
    Known{0x65735546, "fuse", Nature::kFuse},
};

}  // namespace

FileSystem describe_filesystem(long type) {
  const auto magic = static_cast<unsigned>(type);  // some kernels sign-extend it
  for (const Known& known : kKnown) {
    if (known.type == magic) {
      return {type, std::string(known.name), known.nature == Nature::kNetwork, known.nature == Nature::kFuse};
    }
  }
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%x", magic);
  return {type, text.data(), false, false};
}

Result<FileSystem> filesystem_of(const std::string& path, std::optional<long> fake) {
  if (fake) return describe_filesystem(*fake);
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) {
    return fail(errno == EACCES ? Code::kPermission : Code::kIo,
                "cannot look at " + path + ": " + system_reason(errno));
  }
  return describe_filesystem(info.f_type);
}

Result<void> require_local(const FileSystem& filesystem, const std::string& path, bool allow_fuse) {
  if (!filesystem.network && !(filesystem.fuse && !allow_fuse)) return {};
  return fail(Code::kConfig,
              "cannot use " + path + ": it lies on a network file system (" + filesystem.name +
                  "), on which an SQLite database is lost as soon as two machines open it",
              "keep the database on a local disk of the one machine that runs notifyctl");
}

}  // namespace notify
