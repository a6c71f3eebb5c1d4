#pragma once

#include <utility>

#include "store/session.hpp"

namespace notify {

// A conditional change of one row by its key: whether the row was as the statement expected it.
template <class... Args>
Result<bool> change_one(Session& session, sqlite::Sql sql, Args&&... args) {
  TRY_ASSIGN(sqlite::Use statement, session.writer().use(sql));
  TRY_ASSIGN(const int changed, statement.bind(std::forward<Args>(args)...).run());
  ASSERT(changed <= 1);
  return changed == 1;
}

}  // namespace notify
