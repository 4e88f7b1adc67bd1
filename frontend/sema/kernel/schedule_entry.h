// A value as an entry of a schedule, and what the layouts of tensors count. Internal to this
// folder.
#pragma once

#include <string>

#include "frontend/sema/values/value.h"

namespace lay::sema {

// Error "not-an-atom" for an `mma` that is no multiply-add, and for `copies` that are none,
// "atom-cover" for one that is wrong.
ScheduleEntry schedule_entry(const std::string& key, const std::string& argument,
                             const Value& value, Span where);

// A layout of a tensor in memory takes coordinates and gives elements of the tensor's type, where
// it says what it counts. Error "units" otherwise: `what` is the layout, for the message.
void require_in_elements(const std::string& what, const Units& units, ElementType type, Span place);

}  // namespace lay::sema
