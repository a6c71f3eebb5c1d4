#pragma once

#include "core/error.hpp"
#include "core/ports/channel.hpp"

namespace notify {

// What every driver asks of a message before it is claimed: an id that can stand in a header and in a
// signature ([A-Za-z0-9_-], at most limits::kMessageId bytes), and an address; and that nothing beside the
// payload (which has been read strictly) holds control characters or is not UTF-8.
Result<void> check_dispatch(const Dispatch& dispatch);

}  // namespace notify
