// The launches of a grouped product, and what they leave to one another, where segments have 3, 0
// and 130 rows and tiles 128:
//
//   segment     0 0 0 2 2 ...     of each row, where no tensor of the caller's has it
//   first_row   0 3 3 133         of each segment, and behind the last one
//   first_tile  0 1 1 3           likewise: tiles 1 and 2 have the rows 3 to 130 and 131 to 132
//   product                       searches first_tile for the segment of a row of tiles
//
// Rows in another order, 2 0 2 0 ..., go three launches longer, and a copy of A goes before the
// product where its rows run along t too:
//
//   place       3 0 4 1 ...       where each row goes
//   row_of      1 3 ...           which row is at each place
//   sorted      X[row_of[p],k]    A of the product, which stores row p at row_of[p] of the outputs
#include "backend/plan/grouped/grouped_variants.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "backend/plan/conditions.h"
#include "backend/plan/gemm_variants.h"
#include "backend/plan/grouped/grouped_product.h"
#include "backend/plan/launches/kernel_parts.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/launches/library_kernel.h"
#include "backend/plan/launches/workspace_kernel.h"
#include "backend/plan/schedule/schedule.h"
#include "backend/tile/vectors.h"

namespace lay::plan {

using namespace sema;

namespace {

// Rows of a tile where no schedule says so: two consumers with an atom's 64 rows each.
constexpr int usual_rows_of_tile = 128;

// The rows of a cluster in the first schedule that says them: all variants share one set of tables.
int rows_of_tile(const Kernel& kernel) {
  for (const Schedule& schedule : kernel.schedules) {
    if (!takes_segments(schedule.target)) continue;
    std::vector<Problem> reported_later;
    const TensorSchedule read = read_tensor_schedule(schedule, reported_later);
    if (read.tile) return (*read.tile)[0] * read.cluster.value_or(std::array{1, 1, 1})[0];
  }
  return usual_rows_of_tile;
}

// How rows come in the order of segments: they lie so, or each is compared with each, or they are
// counted in chunks.
enum class Sorting { none, compared, counted };
constexpr int most_compared = 4096;

// Makes the launches of a grouped product.
class Grouping {
 public:
  Grouping(GroupedProduct product, Sorting sorting, int rows)
      : product_(std::move(product)),
        sorting_(sorting),
        kernel_(*product_.kernel),
        m_(kernel_.index(product_.row).extent),
        workspace_(kernel_) {
    segments_.count = product_.count;
    segments_.rows = rows;
    sizes_ = {{"T", m_},
              {"E", segments_.count},
              {"R", segments_.rows},
              {"C", ceil_div(m_, rows_of_chunk)}};
  }

  // The launches before the product, and the product, whose form is then form().
  std::optional<SplitProducts> run(Facts& facts) {
    const Tensor segment = segment_of_each_row();
    const Tensor first_row = table("first_row", {segments_.count + 1});
    add_launch("first_rows", {segment, first_row});
    const Tensor first_tile = table("first_tile", {segments_.count + 1});
    add_launch("first_tiles", {first_row, first_tile});
    const bool copies = sorting_ != Sorting::none || !runs_along_sum(facts);
    std::optional<Tensor> row_of;
    if (sorting_ != Sorting::none) row_of = order_of_segments(segment, first_row);
    std::optional<Tensor> sorted;
    if (copies) sorted = sorted_rows(row_of);
    Kernel last = with_tables(segment, row_of, sorted);
    segments_.first_row = add_input(last, first_row);
    segments_.first_tile = add_input(last, first_tile);
    auto form = recognise(last, facts, FurtherFactors::segments);
    auto* found = std::get_if<GemmForm>(&form);
    if (!found || found->by_row < 0) return std::nullopt;
    form_ = std::move(*found);
    segments_.by_row = form_.by_row;
    form_.segments = segments_;
    made_.last = std::make_shared<const Kernel>(std::move(last));
    made_.tensors = workspace_.tensors();
    made_.workspace = made_.stored = workspace_.bytes();
    return std::move(made_);
  }

  const GemmForm& form() const { return form_; }

 private:
  static constexpr int rows_of_chunk = 128;  // as in stdlib/segments.lay

  const Span& where() const { return kernel_.node(product_.coordinate).where; }

  Tensor table(const char* name, const std::vector<Int>& extents) {
    return workspace_.add(name, ElementType::s32, extents, where());
  }

  // Adds a kernel of the library, its tensors in the order of its signature.
  void add_launch(const char* name, std::vector<Tensor> tensors) {
    made_.first.push_back(std::make_shared<const Kernel>(
        instance_of({"segments", name, sizes_, std::move(tensors)}, kernel_)));
  }

  // The segments as they stand in memory, or after a launch that computes them.
  Tensor segment_of_each_row() {
    const auto* load = std::get_if<Load>(&kernel_.node(product_.coordinate).what);
    if (load && load->coordinate.size() == 1) {
      const Tensor& tensor = kernel_.tensor(load->tensor);
      if (tensor.element == ElementType::s32 && !tensor.is_swizzled() &&
          bare_index(kernel_, load->coordinate[0]) == product_.row)
        return tensor;
    }
    const Tensor made = table("segment", {m_});
    made_.first.push_back(as_launch(storing(kernel_, made, {product_.row}, product_.coordinate)));
    return made;
  }

  // The row at each place, after launches that compute it.
  Tensor order_of_segments(const Tensor& segment, const Tensor& first_row) {
    const Tensor row_of = table("row_of", {m_});
    if (sorting_ == Sorting::compared) {
      const Tensor place = table("place", {m_});
      add_launch("places", {segment, place});
      add_launch("rows_of_places", {place, row_of});
      return row_of;
    }
    const Int chunks = ceil_div(m_, rows_of_chunk);
    const Tensor chunk = table("chunk", {chunks, rows_of_chunk});
    add_launch("chunks", {segment, chunk});
    const Tensor count = table("count", {chunks, segments_.count});
    add_launch("counts_of_chunks", {chunk, count});
    const Tensor before = table("before", {chunks, segments_.count});
    add_launch("rows_before_chunks", {count, before});
    const Tensor place = table("place", {chunks, rows_of_chunk});
    add_launch("places_in_chunks", {chunk, before, first_row, place});
    const Tensor place_segment = table("place_segment", {m_});
    add_launch("segments_of_places", {first_row, place_segment});
    const Tensor place_chunk = table("place_chunk", {m_});
    add_launch("chunks_of_places", {first_row, before, place_segment, place_chunk});
    add_launch("rows_of_places_in_chunks", {place, place_chunk, row_of});
    return row_of;
  }

  // Returns true if A's neighbours in memory are neighbours in the sum. Segments begin at any row,
  // and TMA begins a box at whole 16 bytes of its fastest mode: that mode may not be the rows'.
  bool runs_along_sum(Facts& facts) const {
    const Load& load = kernel_.load(product_.rows);
    const int unit = tile::unit_mode(facts, kernel_.tensor(load.tensor).layout);
    if (unit < 0) return false;
    const IndexId index = bare_index(kernel_, load.coordinate[static_cast<std::size_t>(unit)]);
    return kernel_.index(index).summed;
  }

  // The kernel that reads each row's segment from a table and, where rows of A have been copied,
  // the copies. What else depends on a sorted row is read where the row was.
  Kernel with_tables(const Tensor& segment, const std::optional<Tensor>& row_of,
                     const std::optional<Tensor>& sorted) {
    Kernel given = kernel_;
    // The segments are a tensor of the caller's, or of a launch before.
    const auto known = std::find_if(kernel_.tensors.begin(), kernel_.tensors.end(),
                                    [&](const Tensor& each) { return each.name == segment.name; });
    const TensorId segment_id = known != kernel_.tensors.end()
                                    ? static_cast<TensorId>(known - kernel_.tensors.begin())
                                    : add_input(given, segment);
    if (row_of) segments_.row_of = add_input(given, *row_of);
    const TensorId sorted_id = sorted ? add_input(given, *sorted) : -1;
    std::set<NodeId> replaced{product_.coordinate};
    if (sorted) replaced.insert(product_.rows);
    for (std::size_t id = 0; row_of && id < kernel_.nodes.size(); ++id)
      if (bare_index(kernel_, static_cast<NodeId>(id)) == product_.row)
        replaced.insert(static_cast<NodeId>(id));
    return rebuilt(given, replaced, [&](Rebuilding& to, NodeId id, const Node& was) {
      if (id == product_.rows) return to.add_load(was, sorted_id, was.type, order_of_rows());
      NodeId read = to.add({IndexValue{product_.row}, ElementType::s64, was.where});
      if (row_of) read = to.add({Load{segments_.row_of, {read}}, ElementType::s32, was.where});
      if (id == product_.coordinate)
        read = to.add({Load{segment_id, {read}}, segment.element, was.where});
      return to.add_as(was, read);
    });
  }

  // The indices of A's load: batches, the row, and those that are summed, which run in memory.
  std::vector<IndexId> order_of_rows() const {
    std::vector<IndexId> batches, summed;
    for (const NodeId each : kernel_.load(product_.rows).coordinate) {
      const IndexId index = bare_index(kernel_, each);
      if (index != product_.row) (kernel_.index(index).summed ? summed : batches).push_back(index);
    }
    batches.push_back(product_.row);
    batches.insert(batches.end(), summed.begin(), summed.end());
    return batches;
  }

  // A's rows side by side along the sum, in the order of segments.
  Tensor sorted_rows(const std::optional<Tensor>& row_of) {
    const std::vector<IndexId> order = order_of_rows();
    std::vector<Int> extents;
    for (const IndexId index : order) extents.push_back(kernel_.index(index).extent);
    const Tensor made =
        workspace_.add("sorted", kernel_.loaded(product_.rows).element, extents, where());
    Kernel gathering = kernel_;
    const NodeId row =
        row_of ? add_input(gathering, *row_of, {product_.row}, where())
               : added(gathering, {IndexValue{product_.row}, ElementType::s64, where()});
    Load load = kernel_.load(product_.rows);
    for (NodeId& each : load.coordinate) {
      const IndexId index = bare_index(kernel_, each);
      each = index == product_.row
                 ? row
                 : added(gathering, {IndexValue{index}, ElementType::s64, where()});
    }
    const NodeId value = added(gathering, {std::move(load), made.element, where()});
    made_.first.push_back(as_launch(storing(std::move(gathering), made, order, value)));
    return made;
  }

  GroupedProduct product_;
  Sorting sorting_;
  const Kernel& kernel_;
  Int m_;
  Workspace workspace_;
  RowSegments segments_;
  std::map<std::string, Int> sizes_;
  SplitProducts made_;
  GemmForm form_;
};

}  // namespace

bool add_grouped_variants(Plan& plan, Facts& facts, const Target& target) {
  auto product = recognise_grouped(plan.kernel);
  if (!product) return false;
  // An output that is read would be read at a row that another tile has.
  const auto& tensors = plan.kernel->tensors;
  const bool reads_output = std::any_of(tensors.begin(), tensors.end(), [](const Tensor& each) {
    return each.access == Access::inout;
  });
  if (!product->sorted && reads_output) return false;
  const Int m = product->kernel->index(product->row).extent;
  const std::vector<Predicate> few{greater_equal(product->count, 1),
                                   less_equal(product->count, most_segments)};
  const auto add = [&](Sorting sorting, const std::vector<Predicate>& when) {
    std::vector<Predicate> all = few;
    all.insert(all.end(), when.begin(), when.end());
    const auto needed = open_conditions(facts, all);
    if (!needed || !plan.problems.empty()) return;
    Grouping grouping(*product, sorting, rows_of_tile(*plan.kernel));
    const auto split = grouping.run(facts);
    if (!split) return;
    const auto plan_product = [&] {
      Plan made{split->last, {}, {}};
      add_gemm_variants(made, grouping.form(), facts, target);
      for (Variant& variant : made.variants)
        variant.when.insert(variant.when.end(), needed->begin(), needed->end());
      return made;
    };
    add_sequence(plan, *split, plan_product, facts, target);
  };
  if (product->sorted) {
    add(Sorting::none, {});
  } else {
    add(Sorting::compared, {less_equal(m, most_compared)});
    add(Sorting::counted, {greater_equal(m, most_compared + 1)});
  }
  return !(plan.variants.empty() && plan.problems.empty());
}

}  // namespace lay::plan
