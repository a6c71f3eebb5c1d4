#pragma once

#include <string>

#include "cmd/context.hpp"
#include "core/config.hpp"
#include "core/reconcile.hpp"

namespace notify {

// The channel whose vendor posted receipts in this format: the one that is named, else the only one with that recipe.
// Errors: there is none, or there are several.
Result<const ChannelConfig*> receipt_channel(const Config& config, const std::string& recipe,
                                             const std::string& channel);

// reconcile --receipts FILE --format RECIPE: one body that a vendor posted, as its recipe describes it. Headers come from
// the environment, as a CGI script has them (HTTP_X_SIGNATURE), the URL from NOTIFYCTL_RECEIPT_URL. `source` is the
// first part of this database's message ids. What cannot be believed as a whole is an error; single receipts that are
// none are reported and counted.
Result<void> import_recipe_receipts(const std::string& file, ChannelConfig channel, const std::string& source,
                                    Reconciler& reconciler, Context& context);

}  // namespace notify
