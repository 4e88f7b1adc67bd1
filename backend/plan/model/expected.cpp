#include "backend/plan/model/expected.h"

#include <algorithm>
#include <limits>

#include "backend/tile/elementwise/elementwise.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {
namespace {

// Instructions that an SM issues a clock, counted in threads: as many as it adds floats.
double issued(const Target& target) {
  return target.multiply_adds("thread", ElementType::f32).value_or(1);
}

// An operand of a K tile whose elements so many warps multiply: 64 x 256 of 16 bits that two warps
// read are 32 KB written and 64 KB read.
double operand_clocks(const sema::Kernel& kernel, const Sm80Operand& operand, double elements,
                      int warps, const Target& target) {
  constexpr int written = 1;
  const double bytes = elements * bits(kernel.loaded(operand.load).element) / 8;
  const double moved = bytes * (written + (operand.own ? 1 : warps)) / target.shared_rate;
  return moved + (operand.converted ? elements * target.widened / issued(target) : 0);
}

}  // namespace

Int accesses_of(const tile::Program& program) {
  // An element that several others need is loaded once, as the tile's axes say.
  const auto of = [&](tile::TileId id, int vector) {
    Int elements = 1;
    for (const tile::AxisId axis : program.tile(id).axes) elements *= program.axis(axis).extent;
    return ceil_div(elements, vector);
  };
  Int all = 0;
  for (const tile::LoadWay& way : tile::loads_of(program))
    all += of(way.load->dst, way.load->vector);
  for (const tile::Copy* store : tile::stores_of(program)) all += of(store->dst, store->vector);
  return all;
}

Int element_stores(const sema::Kernel& kernel, const Sm90Gemm& gemm) {
  Int all = 0;
  for (std::size_t i = 0; i < kernel.assignments.size(); ++i) {
    // What costs know: TMA, and vectors of registers or of shared memory.
    if (gemm.store && gemm.store->outputs.at(i).tma) continue;
    if ((gemm.store ? gemm.store->outputs[i].vector : gemm.vectors.at(i)) > 1) continue;
    Int elements = 1;
    for (const sema::IndexId index : kernel.assignments[i].indices)
      elements *= kernel.index(index).extent;
    all += elements;
  }
  return all;
}

double staging_clocks(const sema::Kernel& kernel, const Sm80Gemm& gemm, const Target& target) {
  const double k = gemm.tile[2];
  return operand_clocks(kernel, gemm.a, gemm.tile[0] * k, gemm.groups[1], target) +
         operand_clocks(kernel, gemm.b, gemm.tile[1] * k, gemm.groups[0], target);
}

double sustained_rate(const Target& target, ElementType type) {
  // Power is spent on multiply-adds, whichever instruction they are of.
  double most = 0;
  for (const Rate& rate : target.rates)
    if (rate.kind != "thread" && rate.type == type) most = std::max(most, rate.multiply_adds);
  if (most == 0) return std::numeric_limits<double>::infinity();
  return most * target.sms * target.hertz * target.sustained;
}

double access_seconds(double accesses, const Target& target) {
  return accesses * target.element_access / (issued(target) * target.sms * target.hertz);
}

}  // namespace lay::plan
