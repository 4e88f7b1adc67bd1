#include "backend/ir/lower/split/part_sums.h"

namespace lay::ir {

void PartSums::declare(Builder& b, Declared& declared, const Shape& shape) {
  constexpr int widest_access = 16;  // bytes
  shape_ = shape;
  const int values = shape.values, vector = shape.vector, threads = shape.threads;
  // Threads of a warp write vectors side by side: no two meet in a bank.
  given_ = b.shared(declared.name("parts"), shape.type,
                    Layout(tuple(tuple(vector, values / vector), threads, shape.parts - 1),
                           tuple(tuple(1, vector * threads), vector, values * threads)),
                    widest_access);
  own_ = b.registers(declared.name("own"), shape.type, Layout(values, 1));
  piece_ = b.registers(declared.name("piece"), shape.type, Layout(vector, 1));
  sum_ = b.registers(declared.name("sum"), shape.type, Layout(vector, 1));
}

Term PartSums::slot_in(Builder& b, Declared& declared, Term part, Term owner) const {
  if (shape_.parts == 2) return b.constant(0);
  return b.let(declared.name("from"), b.select(part < owner, part, part - 1));
}

void PartSums::add_up(Builder& b, Term part, Term at, Term thread,
                      const std::function<void(Term, Term)>& put) const {
  const auto each = [&](const std::function<void(Term)>& body) {
    b.loop("e", b.constant(0), b.constant(shape_.vector), {.unrolled = true}, body);
  };
  for (int other = 0; other < shape_.parts; ++other) {
    b.when(
        part == other, [&] { each([&](Term e) {
                               b.assign({piece_, {e}}, b.read(own(at + e)));
                             }); },
        [&] {
          const Term slot = other == 0 ? b.constant(0)
                                       : b.select(b.constant(other) < part, b.constant(other),
                                                  b.constant(other - 1));
          b.copy({piece_, {b.constant(0)}}, given(at, thread, slot), shape_.vector);
        });
    each([&](Term e) {
      const Term piece = b.read({piece_, {e}});
      b.assign({sum_, {e}}, other == 0 ? piece : b.read({sum_, {e}}) + piece);
    });
  }
  each([&](Term e) { put(e, b.read({sum_, {e}})); });
}

}  // namespace lay::ir
