#pragma once

// What a vendor posts some time after the call, read by its recipe. Pure.

#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/ports/receipt_table.hpp"
#include "core/recipe.hpp"
#include "core/recipe_values.hpp"

namespace notify {

inline constexpr std::size_t kLongestReceiptBody = 4 * 1024 * 1024;

struct RecipeReceipts {
  std::vector<Receipt> receipts{};
  std::size_t ignored = 0;                           // say nothing about the end
  std::vector<std::pair<std::size_t, Error>> bad{};  // which one (from 1), and why it is none
};

// The receipts in one body. `source` is the first part of this database's message ids, for vendors that got the id
// without it. Errors (kBadInput) concern the body as a whole: it is not what the recipe describes; (kPermission): its
// signature is missing or wrong, and nothing in it may be believed.
Result<RecipeReceipts> read_receipts(const Recipe& recipe, const RecipeSettings& settings, const std::string& source,
                                     RecipeReceived received);

}  // namespace notify
