// A value as an entry of a schedule. Internal to this folder.
#pragma once

#include <string>

#include "frontend/sema/value.h"

namespace lay::sema {

// Error "not-an-atom" for an `mma` that is no multiply-add, "atom-cover" for one that is wrong.
ScheduleEntry schedule_entry(const std::string& key, const std::string& argument, const Value& value, Span where);

}  // namespace lay::sema
