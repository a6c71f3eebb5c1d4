#include "cmd/reading.hpp"

#include "store/open.hpp"

namespace notify {

Result<std::unique_ptr<SqliteStore>> open_for_reading(Context& context) {
  OpenOptions open;
  TRY_ASSIGN(open.path, context.database());
  open.read_only = true;
  TRY_ASSIGN(std::unique_ptr<SqliteStore> store, open_store(open));
  if (const Result<void> current = store->check_fence(); !current) {
    context.warn(current.error().message, current.error().hint);
  }
  return store;
}

}  // namespace notify
