#include "frontend/picture/field.h"

#include <algorithm>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/overloaded.h"

namespace lay::picture {
namespace {

// Known sizes all through, or a refusal that says which picture is meant.
const Layout& known(const AnyLayout& layout) {
  const Layout& domain = domain_of(layout);
  const auto* composed = std::get_if<Composed>(&layout);
  const auto* outer = composed ? std::get_if<Layout>(&composed->outer) : nullptr;
  const bool all_known = domain.is_known() && (!composed || composed->offset.is_known()) &&
                         (!outer || outer->is_known());
  if (!all_known)
    throw refusal("symbolic",
                  to_string(layout) + " has sizes that are not known, and a picture needs numbers");
  return domain;
}

// Mode k as a layout; a missing one is 1:0. An integer, or a tuple of one, is a row.
Layout mode_of(const Layout& domain, int mode) {
  if (domain.rank() == 1)
    return mode == 1 ? (domain.shape.is_tuple() ? domain[0] : domain) : Layout();
  return mode < domain.rank() ? domain[mode] : Layout();
}

std::int64_t extent_of(const Layout& domain, int mode) {
  return size(mode_of(domain, mode).shape).value();
}

// Rows and columns that fit: at most `side` of each, and more of one where the other is short.
int shown(std::int64_t extent, std::int64_t other, const Limits& limits) {
  const std::int64_t room =
      limits.cells / std::max<std::int64_t>(1, std::min<std::int64_t>(other, limits.side));
  const std::int64_t most =
      std::max<std::int64_t>(limits.side, std::min<std::int64_t>(room, limits.longest));
  return static_cast<int>(std::min(extent, most));
}

}  // namespace

const Layout& domain_of(const AnyLayout& layout) {
  return std::visit(overloaded{[](const Layout& l) -> const Layout& { return l; },
                               [](const Composed& c) -> const Layout& { return c.layout(); }},
                    layout);
}

Field::Field(const AnyLayout& layout, const Limits& limits)
    : layout_(layout),
      row_(mode_of(known(layout), 0),
           shown(extent_of(domain_of(layout), 0), extent_of(domain_of(layout), 1), limits)),
      column_(mode_of(domain_of(layout), 1),
              shown(extent_of(domain_of(layout), 1), extent_of(domain_of(layout), 0), limits)),
      all_rows_(extent_of(domain_of(layout), 0)),
      all_columns_(extent_of(domain_of(layout), 1)),
      rank_(domain_of(layout).rank()),
      can_be_lifted_(limits.can_be_lifted) {
  choose_slices(domain_of(layout), limits);
}

void Field::choose_slices(const Layout& domain, const Limits& limits) {
  Facts facts;
  for (int m = 2; m < rank_; ++m) all_slices_ = checked_mul(all_slices_, extent_of(domain, m));
  const int fit = std::max(1, limits.cells / std::max(1, rows() * columns()));
  const auto most = std::min<std::int64_t>({all_slices_, limits.slices, fit});
  for (std::int64_t s = 0; s < most; ++s) {
    SliceOf slice{{}, 0};
    std::int64_t rest = s;
    for (int m = 2; m < rank_; ++m) {
      const std::int64_t extent = extent_of(domain, m);
      const Tuple coordinate = idx2crd(facts, rest % extent, domain[m].shape);
      rest /= extent;
      slice.coordinates.push_back(coordinate.to_string());
      slice.value = add(slice.value, evaluate(facts, domain[m], coordinate));
    }
    slices_.push_back(std::move(slice));
  }
}

Tuple Field::value(int slice, int row, int column) const {
  const Tuple &a = row_.values()[row], &b = column_.values()[column], &c = slices_[slice].value;
  const bool integers = a.is_int() && b.is_int() && c.is_int();
  const Tuple inner =
      integers
          ? Tuple(checked_add(checked_add(a.value().value(), b.value().value()), c.value().value()))
          : add(add(a, b), c);
  const auto* composed = std::get_if<Composed>(&layout_);
  if (!composed) return inner;
  Facts facts;
  const Tuple at = add(composed->offset, inner);
  return std::visit(
      overloaded{[&](const Swizzle& s) -> Tuple {
                   if (!at.is_int() || at.value().value() < 0)
                     throw refusal("swizzle-negative",
                                   "a swizzle takes offsets of at least 0, not " + at.to_string());
                   return s(at.value().value());
                 },
                 [&](const Layout& l) { return evaluate(facts, l, at); }},
      composed->outer);
}

std::string Field::coordinate(int slice, int row, int column) const {
  if (rank_ == 1) {
    const std::string& one = column_.coordinate(column);
    return domain_of(layout_).shape.is_tuple() ? "(" + one + ",)" : one;
  }
  std::string text = "(" + row_.coordinate(row) + "," + column_.coordinate(column);
  for (const std::string& c : slices_[slice].coordinates) text += "," + c;
  return text + ")";
}

std::int64_t Field::index(int slice, int row, int column) const {
  const std::int64_t inside = row + checked_mul(all_rows_, column);
  return checked_add(inside, checked_mul(checked_mul(all_rows_, all_columns_), slice));
}

std::string Field::slice_text(int slice) const {
  if (rank_ <= 2) return "";
  std::string text = "(_,_";
  for (const std::string& c : slices_[slice].coordinates) text += "," + c;
  return text + ")";
}

std::string Field::left_out() const {
  std::string text;
  if (rows() < all_rows_ || columns() < all_columns_) {
    text = "the first " + std::to_string(rows()) + " x " + std::to_string(columns()) + " of " +
           std::to_string(all_rows_) + " x " + std::to_string(all_columns_);
  }
  if (slices() < all_slices_) {
    text += (text.empty() ? "the first " : ", and the first ") + std::to_string(slices()) + " of " +
            std::to_string(all_slices_) + " slices";
  }
  if (text.empty()) return text;
  return "drawn: " + text + (can_be_lifted_ ? "; all = true draws more" : "");
}

}  // namespace lay::picture
