#include "backend/interpret/mma/multiply.h"

#include <numeric>

#include "backend/interpret/mma/multiply_add.h"
#include "backend/interpret/placement.h"
#include "backend/interpret/shadow.h"
#include "backend/interpret/values/codec.h"
#include "backend/interpret/warp.h"

namespace lay::interpret {
namespace {

// An operand as rows of T: in place where its memory holds T, else converted to rows of its own.
template <class T>
struct Operand {
  const T* rows;
  const int* offsets;
  std::vector<T> converted;
  std::vector<int> order;
};

const BufferPlan& plan_of(const Warp& warp, const Access& access) {
  return warp.program->buffers[access.buffer];
}

template <class T, class C>
void convert(Operand<T>& made, const typename C::Bits* from, const std::vector<int>& offsets) {
  made.converted.resize(offsets.size() * kLanes);
  made.order.resize(offsets.size());
  std::iota(made.order.begin(), made.order.end(), 0);
  for (size_t e = 0; e < offsets.size(); ++e) {
    for (int i = 0; i < kLanes; ++i) {
      made.converted[e * kLanes + i] = operand_value<T>(C::decode(from[offsets[e] * kLanes + i]));
    }
  }
  made.rows = made.converted.data();
  made.offsets = made.order.data();
}

template <class T>
Operand<T> operand(Warp& warp, const Instruction& at, const Access& access,
                   const std::vector<int>& offsets) {
  const BufferPlan& plan = plan_of(warp, access);
  const std::int64_t base = register_offset(warp, at, access, {}, 0);
  if (warp.program->checks) {
    for (const int offset : offsets)
      note_register_read(warp, at, access, plan.shadow + base + offset);
  }
  Operand<T> made;
  with_codec(plan.element, warp.program->arithmetic, [&](auto codec) {
    using C = decltype(codec);
    const auto* from =
        reinterpret_cast<const typename C::Bits*>(warp.registers + plan.place * kLanes) +
        base * kLanes;
    if constexpr (std::is_same_v<typename C::Bits, T>) {
      made.rows = from;
      made.offsets = offsets.data();
    } else {
      convert<T, C>(made, from, offsets);
    }
  });
  return made;
}

// The outer product in field mode, of numbers and of s32 in 64 bits.
template <class T>
void outer_product(const OuterProduct<T>& p) {
  for (int i = 0; i < p.rows; ++i) {
    for (int j = 0; j < p.columns; ++j) {
      T* d = p.d + p.d_offsets[i * p.columns + j] * kLanes;
      const T *a = p.a + p.a_offsets[i] * kLanes, *b = p.b + p.b_offsets[j] * kLanes;
      for_each_lane(p.mask, [&](int lane) {
        const T sum = p.first ? a[lane] * b[lane] : d[lane] + a[lane] * b[lane];
        if constexpr (std::is_integral_v<T>)
          d[lane] = static_cast<std::int32_t>(sum);
        else
          d[lane] = sum;
      });
    }
  }
}

template <class T>
void product(Warp& warp, const Instruction& at, Mask lanes, bool first) {
  if (lanes == 0) return;
  const MmaPlan& plan = warp.program->mmas[at.detail];
  const Mask saved = warp.mask;
  warp.mask = lanes;
  const Operand<T> a = operand<T>(warp, at, plan.a, plan.a_offsets);
  const Operand<T> b = operand<T>(warp, at, plan.b, plan.b_offsets);
  const BufferPlan& to = plan_of(warp, plan.d);
  const std::int64_t base = register_offset(warp, at, plan.d, {}, 0);
  for (const int offset : plan.d_offsets) {
    if (warp.program->checks && !first)
      note_register_read(warp, at, plan.d, to.shadow + base + offset);
    note_register_write(warp, at, plan.d.buffer, to.shadow + base + offset);
  }
  T* d = reinterpret_cast<T*>(warp.registers + to.place * kLanes) + base * kLanes;
  outer_product(OuterProduct<T>{d, a.rows, b.rows, plan.d_offsets.data(), a.offsets, b.offsets,
                                static_cast<int>(plan.a_offsets.size()),
                                static_cast<int>(plan.b_offsets.size()), lanes, first});
  warp.mask = saved;
}

template <class T>
void multiply_accumulate(Warp& warp, const Instruction& at) {
  Mask first = 0;
  if (at.a >= 0) {
    const std::int64_t* zero = as<std::int64_t>(warp.slots[at.a]);
    for (int i = 0; i < kLanes; ++i) first |= static_cast<Mask>(zero[i] != 0) << i;
  }
  product<T>(warp, at, warp.mask & first, true);
  product<T>(warp, at, warp.mask & ~first, false);
}

bool narrow_integer(ElementType type) {
  return type == ElementType::s8 || type == ElementType::u8;
}

}  // namespace

Handler multiply(ElementType d, ElementType a, ElementType b, Arithmetic arithmetic) {
  const bool in_field = arithmetic == Arithmetic::field;
  if (d == ElementType::f64 && a == d && b == d)
    return in_field ? multiply_accumulate<field::Number> : multiply_accumulate<double>;
  if (d == ElementType::f32 && is_narrow_float(a) && is_narrow_float(b))
    return in_field ? multiply_accumulate<field::Number> : multiply_accumulate<float>;
  if (d == ElementType::s32 && (a == d || narrow_integer(a)) && (b == d || narrow_integer(b)))
    return in_field ? multiply_accumulate<std::int64_t> : multiply_accumulate<std::int32_t>;
  return nullptr;
}

}  // namespace lay::interpret
