#pragma once

#include <string>

#include "cmd/context.hpp"
#include "core/config.hpp"
#include "core/reconcile.hpp"

namespace notify {

// The channel whose vendor posted receipts in this format, a recipe's name or `ses`: the one that is named, else the only
// one of that kind. Errors: there is none, or there are several.
Result<const ChannelConfig*> receipt_channel(const Config& config, const std::string& format,
                                             const std::string& channel);

// reconcile --receipts FILE --format RECIPE: one body that a vendor posted, as its recipe (or, for `ses`, core/ses_events)
// describes it. Headers come from the environment, as a CGI script has them (HTTP_X_SIGNATURE), the URL from NOTIFYCTL_RECEIPT_URL. `source` is the
// first part of this database's message ids. What cannot be believed as a whole is an error; single receipts that are
// none are reported and counted.
Result<void> import_posted_receipts(const std::string& file, ChannelConfig channel, const std::string& source,
                                    Reconciler& reconciler, Context& context);

}  // namespace notify
