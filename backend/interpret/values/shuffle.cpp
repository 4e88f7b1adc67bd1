#include "backend/interpret/values/shuffle.h"

#include "backend/interpret/warp.h"

namespace lay::interpret {
namespace {

template <class T>
void exchange(Warp& warp, const Instruction& at) {
  if (warp.mask != ~Mask{0}) {
    stop(warp, at, ~warp.mask, FaultCode::barrier_divergence,
         "expected all lanes of the warp at this shuffle");
  }
  T* dst = slot<T>(warp, at.dst);
  const T* a = slot<T>(warp, at.a);
  for (int lane = 0; lane < kLanes; ++lane) dst[lane] = a[lane ^ static_cast<int>(at.value)];
}

}  // namespace

Handler shuffle(LaneType type) {
  switch (type) {
    case LaneType::single:
      return exchange<float>;
    case LaneType::real:
      return exchange<double>;
    case LaneType::number:
      return exchange<field::Number>;
    case LaneType::integer:
      break;
  }
  return exchange<std::int64_t>;
}

}  // namespace lay::interpret
