#pragma once

#include <memory>
#include <string_view>

#include "core/error.hpp"
#include "core/ports/zone.hpp"

namespace notify {

// The zone of that name from the time zone database of this machine ($TZDIR, else /usr/share/zoneinfo). An
// unknown zone and a missing database are errors with code kConfig and never mean UTC; "UTC" itself needs no
// database. Only names of the database are taken: no abbreviations ("KST"), no POSIX rules ("GMT+9", whose
// sign means the opposite of what people read), no paths. TZ is neither read nor set.
Result<std::unique_ptr<const Zone>> load_zone(std::string_view name);

}  // namespace notify
