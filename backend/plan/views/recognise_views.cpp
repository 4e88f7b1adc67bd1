#include "backend/plan/views/recognise_views.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "backend/plan/views/join_indices.h"
#include "backend/plan/views/linear_coordinate.h"
#include "backend/tile/coalesce_indices.h"
#include "backend/tile/products/factors.h"

namespace lay::plan {

using namespace sema;
using tile::Digit;
using tile::element_of;
using tile::ViewedMode;

namespace {

constexpr std::size_t most_tma_modes = 5, least_modes_of_im2col = 3;
constexpr int most_step = 8;

// Where a factor is read along a mode: step * outer + dilation * summed + first. In
// X[n,2*p+r-1,c] the middle mode has the outer index p, the summed one r, and begins at -1.
struct Coordinate {
  IndexId outer = -1, summed = -1;
  int step = 1;
  std::int64_t dilation = 1;
  Int first = 0;

  bool is_bare() const {
    return (outer < 0) != (summed < 0) && step == 1 && dilation == 1 && first.is(0);
  }
};

struct Factor {
  NodeId value = -1, load = -1;
  std::vector<Coordinate> at;
  std::set<IndexId> indices;
  bool has_window() const {
    return std::any_of(at.begin(), at.end(), [](const Coordinate& c) { return !c.is_bare(); });
  }
};

// The factors of the kernel's one product, as they stand.
std::array<NodeId, 2> factors_of(const Kernel& kernel, NodeId sum) {
  const auto& reduce = std::get<Reduce>(kernel.node(sum).what);
  const auto& product = std::get<Apply>(kernel.node(reduce.body).what);
  return {product.operands[0], product.operands[1]};
}

// A body that is no product, such as an element alone, has no factors.
bool is_product(const Kernel& kernel, NodeId sum) {
  const auto& reduce = std::get<Reduce>(kernel.node(sum).what);
  const auto* product = std::get_if<Apply>(&kernel.node(reduce.body).what);
  return product && product->function == ElementFunction::mul;
}

class Viewer {
 public:
  Viewer(const Kernel& kernel, const Facts& facts) : kernel_(kernel), facts_(facts) {}
  std::optional<Gemm> run();

 private:
  // What a factor reads, and whether all of it can be a view.
  std::optional<Factor> factor(NodeId value) const;
  std::optional<Coordinate> coordinate(NodeId node) const;
  bool reads_zeros_outside(const Factor& factor, NodeId condition) const;
  // Which indices become m, n, k and batches.
  bool place_rows();
  bool place_sum();
  std::vector<std::size_t> modes_by_stride(const Factor& factor) const;
  bool is_before(const Int& a, const Int& b) const {
    return a.is_literal() && b.is_literal() ? a.value() < b.value()
                                            : !(a == b) && facts_.proves(less_equal(a, b));
  }
  const Int& extent(IndexId index) const { return kernel_.index(index).extent; }
  std::optional<Digit> digit(const std::vector<IndexId>& list, IndexId index) const;
  std::optional<OperandView> view(const Factor& factor, const std::vector<IndexId>& outer) const;
  bool walks_pixels(const Factor& factor, const std::vector<IndexId>& outer,
                    OperandView& view) const;
  int run_of(const Factor& factor) const;
  // The kernel with the indices made one; the operands keep their modes.
  std::optional<Kernel> with_joined(const std::vector<IndexId>& indices,
                                    const Kernel& kernel) const;

  const Kernel& kernel_;
  const Facts& facts_;
  NodeId sum_ = -1;
  std::array<Factor, 2> factors_;  // A and B
  // The slowest first.
  std::vector<IndexId> rows_, columns_, summed_, batch_;
};

// At most one index of the output, by which windows begin, and one of the sum, within a window.
std::optional<Coordinate> Viewer::coordinate(NodeId node) const {
  const auto sum = linear_coordinate(kernel_, node);
  if (!sum) return std::nullopt;
  Coordinate made;
  made.first = sum->constant;
  for (const auto& [index, factor] : sum->by) {
    if (!factor.is_literal()) return std::nullopt;
    const bool summed = kernel_.index(index).summed;
    IndexId& place = summed ? made.summed : made.outer;
    if (place >= 0) return std::nullopt;
    place = index;
    if (summed) {
      made.dilation = factor.value();
    } else if (factor.value() >= 1 && factor.value() <= most_step) {
      made.step = static_cast<int>(factor.value());
    } else {
      return std::nullopt;
    }
  }
  return made;
}

// A factor is an element at such coordinates, no index twice, of a tensor whose modes TMA takes.
std::optional<Factor> Viewer::factor(NodeId value) const {
  const auto element = element_of(kernel_, value);
  if (!element) return std::nullopt;
  Factor made{value, element->load, {}, {}};
  const Load& load = kernel_.load(made.load);
  const Tensor& tensor = kernel_.tensor(load.tensor);
  if (tensor.is_swizzled() || load.coordinate.size() > most_tma_modes) return std::nullopt;
  for (const NodeId node : load.coordinate) {
    const auto at = coordinate(node);
    if (!at) return std::nullopt;
    for (const IndexId index : {at->outer, at->summed})
      if (index >= 0 && !made.indices.insert(index).second) return std::nullopt;
    made.at.push_back(*at);
  }
  for (int mode = 0; mode < tensor.layout.rank(); ++mode) {
    const Layout one = tensor.layout[mode];
    if (!one.shape.is_int() || !one.stride.is_int()) return std::nullopt;
  }
  if (element->condition >= 0 && !reads_zeros_outside(made, element->condition))
    return std::nullopt;
  return made;
}

// The condition says no more and no less than that each coordinate lies in the tensor: what it
// leaves out never lies outside.
bool Viewer::reads_zeros_outside(const Factor& factor, NodeId condition) const {
  const auto said = not_negative_where(kernel_, condition);
  if (!said) return false;
  const Load& load = kernel_.load(factor.load);
  const Layout& layout = kernel_.tensor(load.tensor).layout;
  std::vector<char> met(said->size(), 0);
  // Where the condition leaves a bound out, as one that holds anyway, the facts must prove it.
  const auto holds = [&](const LinearCoordinate& inside) {
    bool found = false;
    for (std::size_t i = 0; i < said->size(); ++i) {
      if (!((*said)[i] == inside)) continue;
      met[i] = 1;
      found = true;
    }
    return found || never_negative(kernel_, facts_, inside);
  };
  for (std::size_t mode = 0; mode < load.coordinate.size(); ++mode) {
    const LinearCoordinate at = *linear_coordinate(kernel_, load.coordinate[mode]);
    const LinearCoordinate last{layout[static_cast<int>(mode)].shape.value() - 1, {}};
    const bool inside = holds(at), before_end = holds(last + Int(-1) * at);
    if (!inside || !before_end) return false;
  }
  return std::all_of(met.begin(), met.end(), [](char each) { return each != 0; });
}

// Modes of one element are passed over, whose stride says nothing.
// The mode whose neighbours are side by side, -1 where none is known.
int Viewer::run_of(const Factor& factor) const {
  const Layout& layout = kernel_.loaded(factor.load).layout;
  for (int mode = 0; mode < layout.rank(); ++mode)
    if (layout[mode].stride.value().is(1) && !layout[mode].shape.value().is(1)) return mode;
  return -1;
}

// The modes with the smallest stride first; where that is not known, the last ones.
std::vector<std::size_t> Viewer::modes_by_stride(const Factor& factor) const {
  const Layout& layout = kernel_.loaded(factor.load).layout;
  std::vector<std::size_t> modes;
  for (std::size_t mode = factor.at.size(); mode-- > 0;) {
    const auto stride = [&](std::size_t of) { return layout[static_cast<int>(of)].stride.value(); };
    auto place = modes.end();
    while (place != modes.begin() && is_before(stride(mode), stride(*(place - 1)))) --place;
    modes.insert(place, mode);
  }
  return modes;
}

// The rows: of a window its pixels, as far as the outputs hold them side by side, else the index of
// A that steps least. The columns: the index of B that steps least. All others are batches.
bool Viewer::place_rows() {
  const Factor &a = factors_[0], &b = factors_[1];
  const auto own = [&](const Factor& in, const Factor& out, IndexId index) {
    return index >= 0 && in.indices.contains(index) && !out.indices.contains(index);
  };
  bool complete = false;
  // From the fastest pixel on, q, then p, then n of X[n,p+r,q+s,c]: rows count them in the order in
  // which im2col mode walks. Outputs that hold fewer of them side by side have fewer rows.
  for (const std::size_t mode : modes_by_stride(a)) {
    const IndexId index = a.at[mode].outer;
    if (complete || !own(a, b, index)) continue;
    std::vector<IndexId> more{index};
    more.insert(more.end(), rows_.begin(), rows_.end());
    const bool joins = rows_.empty() || (a.has_window() && with_joined(more, kernel_));
    if (joins) rows_ = more;
    complete = !joins;
  }
  for (const std::size_t mode : modes_by_stride(b)) {
    if (!b.at[mode].is_bare()) return false;
    const IndexId index = b.at[mode].outer;
    if (columns_.empty() && own(b, a, index)) columns_.push_back(index);
  }
  if (rows_.empty() || columns_.empty()) return false;
  std::set<IndexId> placed(rows_.begin(), rows_.end());
  placed.insert(columns_.front());
  for (const IndexId index : kernel_.assignments[0].indices)
    if (!placed.contains(index)) batch_.push_back(index);
  return true;
}

// The sum: the index along which memory runs last, the others as the kernel has them.
bool Viewer::place_sum() {
  const auto& indices = std::get<Reduce>(kernel_.node(sum_).what).indices;
  // Both operands run along the same index of the sum, or one of them along rows or columns: a K
  // tile of A[k,m,l] and B[n,k,l] runs along l.
  IndexId fastest = -1;
  for (const Factor& factor : factors_) {
    for (const IndexId index : indices)
      if (!factor.indices.contains(index)) return false;
    const int run = run_of(factor);
    if (run < 0) return false;
    const Coordinate& at = factor.at[static_cast<std::size_t>(run)];
    if (!at.is_bare()) return false;
    if (at.summed < 0) continue;
    if (fastest >= 0 && fastest != at.summed) return false;
    fastest = at.summed;
  }
  if (fastest < 0) fastest = indices.back();
  for (const Factor& factor : factors_) {
    const bool bare = std::any_of(factor.at.begin(), factor.at.end(), [&](const Coordinate& at) {
      return at.is_bare() && at.summed == fastest;
    });
    if (!bare) return false;
  }
  for (const IndexId index : indices)
    if (index != fastest) summed_.push_back(index);
  summed_.push_back(fastest);
  return true;
}

// Of the list (n,p,q) and p: below it stand q's values.
std::optional<Digit> Viewer::digit(const std::vector<IndexId>& list, IndexId index) const {
  Int below = 1;
  for (std::size_t i = list.size(); i-- > 0;) {
    if (list[i] == index) return Digit{below, extent(index), i > 0};
    below *= extent(list[i]);
  }
  return std::nullopt;
}

// Finds the order of the modes as im2col takes them.
bool Viewer::walks_pixels(const Factor& factor, const std::vector<IndexId>& outer,
                          OperandView& view) const {
  if (factor.at.size() < least_modes_of_im2col || !view.modes[static_cast<std::size_t>(view.run)].k)
    return false;
  view.order = {view.run};
  const auto add = [&](const auto& wanted) {
    for (std::size_t mode = 0; mode < factor.at.size(); ++mode)
      if (static_cast<int>(mode) != view.run && wanted(view.modes[mode], factor.at[mode]))
        view.order.push_back(static_cast<int>(mode));
  };
  // Modes of one base pixel, then pixels as rows count them, then batches.
  add([](const ViewedMode& mode, const Coordinate&) { return !mode.has_base(); });
  for (std::size_t i = outer.size(); i-- > 0;)
    add([&](const ViewedMode&, const Coordinate& at) { return at.outer == outer[i]; });
  for (const bool windows : {true, false})
    add([&](const ViewedMode& mode, const Coordinate&) {
      return mode.batch >= 0 && mode.is_window() == windows;
    });
  // A tile may begin behind the last row. Its rows are not stored, but begin at a base pixel: any.
  for (std::size_t i = 1; i + 1 < view.order.size(); ++i)
    if (auto& digit = view.modes[static_cast<std::size_t>(view.order[i])].outer)
      digit->remainder = true;
  // The slowest has no corners.
  return !view.modes[static_cast<std::size_t>(view.order.back())].is_window();
}

// Each mode's place in the operand, from the coordinate that reads it.
std::optional<OperandView> Viewer::view(const Factor& factor,
                                        const std::vector<IndexId>& outer) const {
  OperandView made;
  made.run = run_of(factor);
  for (const Coordinate& at : factor.at) {
    ViewedMode mode;
    const auto number = static_cast<int>(made.modes.size());
    mode.extent = kernel_.loaded(factor.load).layout[number].shape.value();
    mode.step = at.step;
    mode.first = at.first;
    if (at.outer >= 0) mode.outer = digit(outer, at.outer);
    if (at.outer >= 0 && !mode.outer) mode.batch = at.outer;
    if (at.outer >= 0) mode.count = extent(at.outer);
    if (at.summed >= 0) mode.k = digit(summed_, at.summed);
    mode.dilation = at.dilation;
    // X[n,h-r+1,f] with three taps: first 1 - 2 = -1, and the offsets 2 - r.
    // A window that is read backwards begins at its last element.
    if (mode.k && at.dilation < 0) mode.first += at.dilation * (mode.k->extent - 1);
    made.modes.push_back(mode);
  }
  if (factor.has_window() && !walks_pixels(factor, outer, made)) return std::nullopt;
  return made;
}

// The operands are found anew, since each rewriting gives nodes other ids.
std::optional<Kernel> Viewer::with_joined(const std::vector<IndexId>& indices,
                                          const Kernel& kernel) const {
  std::set<NodeId> operands;
  for (const NodeId value : factors_of(kernel, std::get<NodeId>(only_sum(kernel))))
    operands.insert(element_of(kernel, value)->load);
  return with_indices_joined(kernel, indices, operands, facts_);
}

std::optional<Gemm> Viewer::run() {
  const auto found = only_sum(kernel_);
  const auto* sum = std::get_if<NodeId>(&found);
  if (!sum || !is_product(kernel_, *sum)) return std::nullopt;
  sum_ = *sum;
  const auto values = factors_of(kernel_, sum_);
  for (std::size_t i = 0; i < 2; ++i) {
    auto made = factor(values[i]);
    if (!made) return std::nullopt;
    factors_[i] = std::move(*made);
  }
  // A has the window; without one, the first index of the output that one factor has alone.
  const std::vector<IndexId>& targets = kernel_.assignments[0].indices;
  const auto first = std::find_if(targets.begin(), targets.end(), [&](IndexId index) {
    return factors_[0].indices.contains(index) != factors_[1].indices.contains(index);
  });
  if (first == targets.end()) return std::nullopt;
  const bool swapped = factors_[0].has_window()   ? false
                       : factors_[1].has_window() ? true
                                                  : factors_[1].indices.contains(*first);
  // From here on A is factors_[0], whichever stands first in the product.
  if (swapped) std::swap(factors_[0], factors_[1]);
  if (!place_rows() || !place_sum()) return std::nullopt;
  // Two tensors at bare indices are a GEMM as they stand.
  if (rows_.size() == 1 && summed_.size() == 1 && !factors_[0].has_window()) return std::nullopt;
  GemmForm form;
  form.a_view = view(factors_[0], rows_);
  form.b_view = view(factors_[1], columns_);
  if (!form.a_view || !form.b_view) return std::nullopt;
  // B at bare indices is a tensor like any other.
  if (summed_.size() == 1) form.b_view.reset();
  auto joined = with_joined(rows_, kernel_);
  if (joined) joined = with_joined(summed_, *joined);
  if (!joined) return std::nullopt;
  form.contraction = std::get<NodeId>(only_sum(*joined));
  const auto now = factors_of(*joined, form.contraction);
  form.a_value = now[swapped ? 1 : 0];
  form.b_value = now[swapped ? 0 : 1];
  form.a = element_of(*joined, form.a_value)->load;
  form.b = element_of(*joined, form.b_value)->load;
  form.m = rows_.back();
  form.n = columns_.front();
  form.k = summed_.back();
  form.batch = batch_;
  return Gemm{std::make_shared<const Kernel>(std::move(*joined)), std::move(form)};
}

}  // namespace

// Indices that all tensors hold side by side are one first, so that the fewest digits are left.
std::optional<Gemm> recognise_viewed(const KernelPtr& kernel, const Facts& facts) {
  const Kernel joined = tile::coalesce_indices(*kernel, facts);
  return Viewer(joined, facts).run();
}

}  // namespace lay::plan
