#pragma once

#include <optional>

#include "core/instant.hpp"
#include "core/ports/credential_cache.hpp"
#include "core/ports/http.hpp"
#include "core/recipe.hpp"

namespace notify {

// The token in a vendor's answer; nothing when the answer grants none, or one that is over already. Never longer than a
// header line can be, and nothing but visible ASCII. `now`: wall clock, for ends that are said in seconds.
std::optional<Credential> granted_token(const RecipeToken& recipe, const HttpEvidence& evidence, Instant now);

}  // namespace notify
