#pragma once

#include <string>
#include <string_view>

#include "core/crypto.hpp"
#include "core/ports/spool.hpp"
#include "sys/files.hpp"

namespace notify {

// The spool in the directory "<database>-lists" (0700), a file (0600) a list.
class FileSpool final : public Spool {
 public:
  explicit FileSpool(const std::string& database) : database_(database), directory_(database + "-lists") {}

  Result<std::string> read(const std::string& name, std::int64_t offset, std::size_t max) override;
  Result<bool> intact(const std::string& name) override;
  Result<void> sweep(const std::set<std::string>& needed, Duration age) override;

  // A list that is being written. Nothing of it stays unless keep() succeeds.
  class Writer {
   public:
    Result<void> add(std::string_view bytes);
    std::int64_t bytes() const noexcept { return bytes_; }
    // Ends the writing: the list's name, by its content.
    const std::string& seal();
    // Durable under that name from then on.
    Result<void> keep();

   private:
    friend class FileSpool;
    Writer(std::string directory, NewFile file) : directory_(std::move(directory)), file_(std::move(file)) {}
    std::string directory_;
    NewFile file_;
    Sha256Hasher hasher_{};
    std::int64_t bytes_ = 0;
    std::string name_{};  // once it is sealed
  };
  Result<Writer> write();

 private:
  std::string path_of(const std::string& name) const { return directory_ + "/" + name; }
  std::string database_;
  std::string directory_;
};

}  // namespace notify
