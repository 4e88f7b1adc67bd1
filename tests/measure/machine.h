// A GPU that is the host interpreter: what the fake driver is asked to run is looked up among the
// lowered kernels of a script and interpreted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backend/plan/plan.h"
#include "frontend/source/source.h"
#include "runtime/gpu/gpu.h"

namespace lay::test {

// The kernels of a script, all variants, the plain one, candidates for simt and the epilogues
// alone, can be launched from now on.
void know_kernels(const std::string& script);

// One variant of a plan that has a launch of its own alone.
void know_variant(const plan::Plan& plan, const plan::Variant& variant);

// Changes one element of every result of the variants whose name ends so; empty: of none.
void break_variant(const std::string& ending);

// The same of the first input; other results stay right.
void spoil_input(const std::string& ending);

// The launches of every variant of a kernel's plan can be launched, those that come before too.
void know_launches(const Sources& sources, const plan::Plan& plan);

// A launch that ran: the emitted function, its grid, threads of a block and bytes of dynamic shared
// memory, and what its tensor maps say, but for addresses.
struct Launched {
  std::string function;
  std::array<unsigned, 5> shape;
  std::vector<std::array<std::uint64_t, 16>> maps{};
  friend bool operator==(const Launched&, const Launched&) = default;
};
// Those since the last call.
std::vector<Launched> take_launched();

// A launch of the emitted function takes the time of `launches`.
void set_cost(const std::string& function, long launches);

// Until it is called with nothing: all functions that are loaded can be launched and do nothing; a
// launch of one takes as many launches' time as this says of its name and its parameters.
using TimedLaunch = std::function<long(const std::string& function, void** parameters)>;
void set_timed_launches(TimedLaunch timed);

}  // namespace lay::test
