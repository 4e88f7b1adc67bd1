// An epilogue as a rolled loop: where an element takes much code, it is written once for a few
// values of a thread, which come to the same registers first.
#include <algorithm>

#include "backend/ir/expand/sm90/sm90_expander.h"

namespace lay::ir {

// Returns the values of a pass of that width that a round of a rolled loop takes: whole steps that
// divide it, as many as registers beside the accumulators can hold. 0 if there are none.
int Sm90Expander::picked_values(int width) const {
  constexpr int others = 40, no_limit = 240;  // registers
  const auto repeats = gemm_.repeats();
  const int values = width / 2, of_step = std::min(values, gemm_.store->step());
  int of_inputs = 0;
  for (const Input& each : inputs_)
    of_inputs += (of_step * bits(declared_.tensor(each.plan->tensor).element) + 31) / 32;
  const int room = (gemm_.registers ? (*gemm_.registers)[1] : no_limit) - others - of_inputs -
                   gemm_.mma.shape[1] / 2 * repeats[0] * repeats[1] *
                       (gemm_.promotion_interval ? 2 : 1) * gemm_.products();
  int taken = 0;
  for (int of = of_step; of <= std::min(values, room / gemm_.products()); of += of_step) {
    if (values % of == 0) taken = of;
  }
  return taken;
}

// The most of any pass, where the epilogue is rolled: 0 where it is not, since an element takes
// little code or all is one round.
int Sm90Expander::picked_values() const {
  if (!gemm_.store || gemm_.split || !much_text()) return 0;
  const auto repeats = gemm_.repeats();
  const int of_width = picked_values(gemm_.store->width), rest = gemm_.store->rest;
  const int of_rest = rest > 0 ? picked_values(rest) : of_width;
  if (of_width == 0 || of_rest == 0) return 0;
  return of_width < gemm_.mma.shape[1] / 2 * repeats[0] * repeats[1] ? std::max(of_width, of_rest)
                                                                     : 0;
}

void Sm90Expander::rolled(const char* name, int count, const std::function<void(Term)>& body) {
  if (count == 1) return body(number(0));
  b_.loop(name, number(0), number(count), {}, body);
}

// Calls `one` with the value of a number: a tree of branches, since registers have no address.
void Sm90Expander::pick(Term number_of, int count, const std::function<void(int)>& one) {
  const std::function<void(int, int)> among = [&](int first, int last) {
    if (last - first == 1) return one(first);
    const int middle = (first + last) / 2;
    b_.when(
        number_of < middle, [&] { among(first, middle); }, [&] { among(middle, last); });
  };
  among(0, count);
}

// The passes of that width, one text for all: its values come to the same registers first. Beside
// halves that move up the text is shorter still, and each value moves once.
void Sm90Expander::store_picked(const Tile& tile, int first_pass, int passes, int width,
                                Term atom) {
  const plan::StagedStore& store = *gemm_.store;
  const auto repeats = gemm_.repeats();
  const int of_atom = passes_of_atom(), atoms = repeats[0] * repeats[1];
  const int values = width / 2, of_pass = store.width / 2;
  const int at_once = picked_values(width), groups = values / at_once;
  rolled("pass", passes, [&](Term pass) {
    declared_.from(declared_.kernel.assignments.front().where);
    const Pass at{atom / repeats[1], atom % repeats[1], pass + first_pass, width};
    const Term buffer = output_stages_.write ? b_.slot(output_stages_.write)
                                             : (atom * of_atom + at.pass) % store.buffers;
    wait_for_stores(store.buffers - 1);
    const Picks picks{
        at_once, [&](Term group) {
          declared_.from(declared_.kernel.assignments.front().where, "the values of this round");
          pick((atom * passes + pass) * groups + group, atoms * passes * groups, [&](int which) {
            const int of = which / groups / passes,
                      first = (first_pass + which / groups % passes) * of_pass +
                              which % groups * at_once;
            b_.loop("v", number(0), number(at_once), {.unrolled = true}, [&](Term v) {
              for (size_t p = 0; p < picked_.size(); ++p)
                b_.assign({picked_[p], {v}}, b_.read({sums_of_products()[p],
                                                      {number(first) + v, number(of / repeats[1]),
                                                       number(of % repeats[1])}}));
            });
            b_.emit(Fence{FenceKind::branch});
          });
        }};
    store_through_shared(
        tile, at, buffer, [&](Term v) { return sums_at(picked_, {v}); }, &picks);
    if (output_stages_.write) b_.emit(Advance{output_stages_.write, {}});
  });
}

void Sm90Expander::rolled_epilogue(const Tile& tile) {
  const plan::StagedStore& store = *gemm_.store;
  const auto repeats = gemm_.repeats();
  const int of_atom = passes_of_atom(), whole = store.rest > 0 ? of_atom - 1 : of_atom;
  rolled("atom", repeats[0] * repeats[1], [&](Term atom) {
    if (whole > 0) store_picked(tile, 0, whole, store.width, atom);
    if (store.rest > 0) store_picked(tile, whole, 1, store.rest, atom);
  });
}

}  // namespace lay::ir
