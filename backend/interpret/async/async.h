// cp.async: copies from global to shared memory whose data arrives when their group is waited for,
// and not before. A read by a kernel that forgets to wait is a fault, not old data.
#pragma once

#include "backend/interpret/program.h"

namespace lay::interpret::async {

// copies[detail]: reads the source now. Zeros instead, where a predicate was false.
extern const Handler issue;
extern const Handler issue_zeros;
// Makes a group of the copies that have been issued.
extern const Handler commit;
// The data of all groups but the last `value` arrives.
extern const Handler wait;

}  // namespace lay::interpret::async
