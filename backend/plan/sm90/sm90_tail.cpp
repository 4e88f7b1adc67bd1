#include "backend/plan/sm90/sm90_tail.h"

#include <memory>

#include "backend/plan/launches/workspace_kernel.h"
#include "backend/plan/make.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

namespace {

constexpr int warpgroup = 128, vector = 4;  // sums of an access: 16 bytes

// The launch that sets all numbers to 0, which are of no tensor of the script.
Plan zeros_of(const sema::Kernel& kernel, const TailTensor& counts, const Target& target) {
  sema::Kernel made;
  made.name = kernel.name + "_" + counts.name;
  made.dims = kernel.dims;
  made.guards = kernel.guards;
  made.where = kernel.where;
  made.indices.push_back({"i", size(counts.layout), false, kernel.where});
  const sema::NodeId zero = add_integer(made, 0, counts.element, kernel.where);
  add_output(made, {counts.name, counts.element, counts.layout, sema::Access::output, kernel.where},
             {0}, zero, kernel.where);
  return make_plan(std::make_shared<const sema::Kernel>(std::move(made)), target,
                   Searched::nothing);
}

}  // namespace

int sums_of_thread(const Sm90Gemm& gemm) {
  return gemm.part()[0] * gemm.part()[1] / warpgroup;
}

TailTensors tail_tensors(const sema::Kernel& kernel, const Sm90Gemm& gemm) {
  Workspace names(kernel);
  const int clusters = gemm.sms / gemm.blocks(), threads = warpgroup * gemm.consumers(),
            values = sums_of_thread(gemm);
  // The law of units (tile/products/tile_order.h): behind the whole tiles there are at most
  // (tail - 1) for each cluster, whatever the sizes are.
  const int units = (gemm.tail - 1) * clusters * gemm.blocks();
  // Threads of a warp write vectors side by side.
  const Layout sums(tuple(tuple(vector, values / vector), threads, units),
                    tuple(tuple(1, vector * threads), vector, values * threads));
  return {{names.unused("tail_sums"), gemm.total, sums},
          {names.unused("tail_counts"), ElementType::s32,
           Layout(clusters * gemm.blocks() * gemm.consumers(), 1)}};
}

// What adds up sums of a tile itself, or takes tiles in turn, has an order of its own, and would
// need its part of the sums in workspace too.
bool choose_tail(const TensorShaping& at, Sm90Gemm& gemm) {
  gemm.tail = at.schedule.tail.value_or(1);
  if (gemm.tail == 1) return true;
  const auto excluded = [&](const char* entry, const std::string& what, const char* help) {
    return at.wrong("unsupported", at.schedule.entries.contains(entry) ? entry : "tail",
                    "a tail in parts does not go with " + what, {{"help", help}});
  };
  if (gemm.consumer_groups() > 1)
    return excluded("groups", "groups over successive tiles", "write 1 for the last number");
  if (gemm.cluster[2] > 1)
    return excluded("cluster", "blocks that share K", "write two numbers, or leave `tail` out");
  if (gemm.alternate_k)
    return excluded("alternate_k", "tiles that go through K from its end",
                    "leave `alternate_k` out");
  if (gemm.promotion_interval > 0)
    return excluded("promotion_interval", "sums in intervals", "leave `tail` out");
  if (!gemm.further.empty())
    return excluded("tail", "several products in one launch", "leave `tail` out");
  if (gemm.segments) return excluded("tail", "rows in segments", "leave `tail` out");
  if (gemm.mask) return excluded("tail", "a mask, whose tiles differ", "leave `tail` out");
  if (bits(gemm.total) != 32)
    return excluded("mma", "sums of " + std::string(element_name(gemm.total)), "leave `tail` out");
  return true;
}

void add_tail(Variant& variant, const sema::Kernel& kernel, const Sm90Gemm& gemm,
              const Target& target) {
  if (gemm.tail == 1) return;
  const TailTensors tensors = tail_tensors(kernel, gemm);
  Int end = variant.workspace;
  for (const TailTensor* each : {&tensors.counts, &tensors.sums}) {
    end = aligned_up(end);
    variant.workspace_tensors.push_back({each->name, end});
    end += size(each->layout) * (bits(each->element) / 8);
  }
  Plan zeros = zeros_of(kernel, tensors.counts, target);
  // Workspace is aligned to more than any access asks for, so that the first variant takes all.
  zeros.variants.resize(1);
  Variant& only = zeros.variants.front();
  only.name = "zeros";
  only.aligned.clear();
  only.is_stage = true;
  only.workspace_tensors = {variant.workspace_tensors[variant.workspace_tensors.size() - 2]};
  only.workspace = end;
  variant.workspace = end;
  variant.before.push_back(std::make_shared<const Plan>(std::move(zeros)));
}

}  // namespace lay::plan
