#include <algorithm>
#include <vector>

#include "backend/ir/text/text.h"
#include "backend/ir/verify/verifier.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {
namespace {

constexpr int largest_extent = 1024;         // of an instruction's tile
constexpr std::int64_t most_bits = 1 << 20;  // of a copy
constexpr int most_modes = 5;                // of a tensor that boxes are copied of

// (thread, value) -> index, with literal numbers.
bool is_thread_value(const Layout& layout) {
  return layout.is_known() && layout.shape.is_tuple() && layout.shape.rank() == 2;
}

// Returns true if each of the threads has all bits in order.
bool has_all(const Layout& layout) {
  return layout.shape[0].is_int() && layout.shape[1].is_int() && layout.stride[0].is_int() &&
         layout.stride[0].value().is(0) && layout.stride[1].value().is(1);
}

}  // namespace

// An operand of an atom: every element of its tile is held, an accumulator once.
void Verifier::atom_operand(const MmaAtom& atom, char operand, const Layout& layout, int rows,
                            int columns) {
  const auto wrong = [&](const std::string& what) {
    problem("atom", "\"" + atom.name + "\": " + operand + ", " + layout.to_string() + ", " + what);
  };
  if (!is_thread_value(layout)) return wrong("is no layout of (thread,value) with literal numbers");
  const std::int64_t threads = size(layout.shape[0]).value(),
                     elements = std::int64_t{rows} * columns;
  if (threads != 32 && threads != 128)
    return wrong("has " + std::to_string(threads) + " threads, not 32 or 128");
  if (size(layout).value() > 32 * elements) return wrong("holds more than its tile has");
  std::vector<int> held(static_cast<size_t>(elements), 0);
  for (const std::int64_t at : values(layout)) {
    if (at < 0 || at >= elements) return wrong("leaves the tile at " + std::to_string(at));
    ++held[static_cast<size_t>(at)];
  }
  const auto missing = std::find(held.begin(), held.end(), 0);
  if (missing != held.end()) wrong("misses element " + std::to_string(missing - held.begin()));
  if (operand == 'd' && std::any_of(held.begin(), held.end(), [](int n) { return n > 1; }))
    wrong("repeats an element");
}

void Verifier::mma_atom(const MmaAtom& atom) {
  const auto [m, n, k] = atom.shape;
  if (std::min({m, n, k}) < 1 || std::max({m, n, k}) > largest_extent) {
    return problem("atom", "\"" + atom.name + "\" multiplies " + std::to_string(m) + " x " +
                               std::to_string(n) + " x " + std::to_string(k));
  }
  atom_operand(atom, 'd', atom.d, m, n);
  if (atom.a) atom_operand(atom, 'a', *atom.a, m, k);
  if (atom.b) atom_operand(atom, 'b', *atom.b, n, k);
}

// Each bit of what is copied is named by some thread of either side.
void Verifier::copy_atom(const CopyAtom& atom) {
  const auto wrong = [&](const std::string& what) {
    problem("atom", "\"" + atom.name + "\" " + what);
  };
  if (atom.scope == CopyScope::cluster && !atom.box)
    return wrong("is copied by a cluster, and is no box");
  if (atom.box && (is_thread_value(atom.source) && is_thread_value(atom.destination))) {
    // A box is a row of bits, as memory has them, and each block of a cluster gets it.
    if (atom.box->modes < 1 || atom.box->modes > most_modes)
      return wrong("copies boxes of " + std::to_string(atom.box->modes) + " modes");
    if (!has_all(atom.source) || !has_all(atom.destination) ||
        !(atom.source.shape[1] == atom.destination.shape[1]))
      return wrong("copies boxes, and not from " + atom.source.to_string() + " to " +
                   atom.destination.to_string());
    if (atom.scope != CopyScope::cluster && !size(atom.source.shape[0]).is(1))
      return wrong("is copied by one thread, and " + atom.source.to_string() + " has others");
    return;
  }
  const std::int64_t threads = atom.scope == CopyScope::warp ? 32 : 1;
  std::int64_t bits = 0;
  for (const Layout* side : {&atom.source, &atom.destination}) {
    if (!is_thread_value(*side))
      return wrong("has " + side->to_string() + ", no layout of (thread,bit) with literal numbers");
    if (!size(side->shape[0]).is(threads))
      return wrong("is copied by " + std::to_string(threads) + " threads, and " +
                   side->to_string() + " has others");
    if (size(*side).value() > most_bits) return wrong("copies too many bits");
    const auto all = values(*side);
    const std::int64_t most = *std::ranges::max_element(all) + 1;
    if (*std::ranges::min_element(all) < 0 || most > static_cast<std::int64_t>(all.size()) ||
        (bits > 0 && most != bits))
      return wrong("has " + side->to_string() + ", whose bits are not those of the other side");
    bits = most;
    std::vector<bool> held(static_cast<size_t>(bits), false);
    for (const std::int64_t bit : all) held[static_cast<size_t>(bit)] = true;
    const auto missing = std::ranges::find(held, false);
    if (missing != held.end())
      return wrong("has " + side->to_string() + ", which misses bit " +
                   std::to_string(missing - held.begin()));
  }
}

const CopyAtom* Verifier::atom_of(const Copy& copy, const std::string& name, CopyScope scope) {
  const CopyAtom* atom = ir::copy_atom(kernel_, name);
  if (!atom) {
    problem("copy", name.empty() ? "expected the atom of this copy, got none"
                                 : "no copy_atom is called \"" + name + "\"");
    return nullptr;
  }
  const auto between = [](Space from, Space to) {
    return std::string(text::kSpaces[from]) + " to " + std::string(text::kSpaces[to]);
  };
  if (atom->from != space(copy.src) || atom->to != space(copy.dst) || atom->scope != scope) {
    problem("copy", "\"" + name + "\" copies by a " + std::string(text::kScopes[atom->scope]) +
                        " from " + between(atom->from, atom->to) + ", and this copy is by a " +
                        std::string(text::kScopes[scope]) + " from " +
                        between(space(copy.src), space(copy.dst)));
    return nullptr;
  }
  return is_thread_value(atom->source) && is_thread_value(atom->destination) ? atom : nullptr;
}

// Checks that the statement's registers hold what the atom says, value by value.
void Verifier::check_atom(const Mma& mma) {
  if (mma.atom.empty()) return problem("mma", "an mma that is not simt names its atom");
  const auto found = std::find_if(kernel_.atoms.begin(), kernel_.atoms.end(),
                                  [&](const MmaAtom& atom) { return atom.name == mma.atom; });
  if (found == kernel_.atoms.end())
    return problem("mma", "no mma_atom is called \"" + mma.atom + "\"");
  const auto operand = [&](const Ref& side, const std::optional<Layout>& layout, const char* name) {
    const bool registers = space(side) == Space::registers;
    if (registers != layout.has_value()) {
      return problem("mma", std::string(name) + " of \"" + found->name + "\" lies in " +
                                (layout ? "registers" : "shared memory") + ", and " +
                                quoted_name(buffer_of(side).name) + " does not");
    }
    if (!registers || !is_thread_value(*layout)) return;
    const std::int64_t expected = size(layout->shape[1]).value();
    const auto* held = std::get_if<Layout>(&buffer_of(side).layout);
    if (held == nullptr ||
        !size(held->shape.is_tuple() ? held->shape[0] : held->shape).is(expected)) {
      problem("mma", quoted_name(buffer_of(side).name) + " holds other than the " +
                         std::to_string(expected) + " values of a thread of \"" + found->name +
                         "\" in its first mode");
    }
  };
  operand(mma.d, found->d, "the accumulator");
  operand(mma.a, found->a, "the first operand");
  operand(mma.b, found->b, "the second operand");
  const int threads = mma.kind == MmaKind::wgmma ? 128 : 32;
  if (is_thread_value(found->d) && !size(found->d.shape[0]).is(threads)) {
    problem("mma", std::string(text::kMmas[mma.kind]) + " is executed by " +
                       std::to_string(threads) + " threads, and \"" + found->name + "\" is not");
  }
}

}  // namespace lay::ir
