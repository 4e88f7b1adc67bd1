// A permute kernel in steps, one tile a block:
//
//   all reads of inputs: global -> registers                 each in the order of its own memory
//   inputs that are transposed: registers -> shared
//   barrier
//   for every access to the outputs: shared -> registers, the values, registers -> global
//
// Coordinates outside the outputs are neither read nor written; nothing else depends on the sizes.
// If one launch has several permute kernels, each of them has a range of blocks.
#include <algorithm>
#include <functional>
#include <set>

#include "backend/ir/lower/lower_parts.h"
#include "backend/plan/axes.h"
#include "backend/plan/recognise.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {

namespace {

using plan::along;

bool stays(const Layout& layout) {
  const auto strides = leaves(layout.stride);
  return std::all_of(strides.begin(), strides.end(),
                     [](const Tuple& d) { return d.is_literal(0); });
}

class PermuteLowering {
 public:
  PermuteLowering(Declared& declared, const plan::Permute& permute)
      : declared_(declared), b_(declared.b), permute_(permute) {
    for (const plan::PermuteLoad& load : permute_.loads) declare(load);
    for (const plan::PermuteStore& store : permute_.stores) declare(store);
  }

  bool is_staged() const {
    return std::any_of(inputs_.begin(), inputs_.end(),
                       [](const Input& i) { return i.load->staged; });
  }

  // Emits the work of the block with this number; `all` is given where something is staged.
  void run(Term block, BarrierId all) {
    declared_.from(declared_.kernel.where, "block -> tile: " + permute_.order.to_string());
    const Term real = find_tile(block);
    b_.when(real, [&] {
      Place work = place(permute_.work, "outputs", "");
      // All loads first, so that as many as there are inputs and accesses are in flight together.
      for (Input& input : inputs_) read(input, work);
      for (Input& input : inputs_) {
        if (input.load->staged) put(input);
      }
      if (is_staged()) {
        declared_.from(declared_.kernel.where, "the tile is in shared memory");
        b_.sync(all);
      }
      compute(work);
    });
  }

 private:
  struct Input {
    const plan::PermuteLoad* load = nullptr;
    const sema::Node* node = nullptr;
    BufferId ahead;         // (element, access): what was read ahead
    BufferId shared, here;  // of a staged one: its tile, and the elements of one access
  };
  // Where a thread stands by a thread-value layout: coordinates in the tile and in the outputs, and
  // whether it has work.
  struct Place {
    const Layout* layout = nullptr;
    std::vector<Term> inside, first;
    Term works;
    bool everybody = true;
  };
  using Coordinates = std::vector<Term>;

  // The stem itself, the first time.
  // Several permute kernels of one launch share a scope: the second one's buffers get numbers.
  std::string fresh(const std::string& stem) {
    return named_.insert(stem).second ? declared_.name(stem) : declared_.fresh(stem);
  }

  size_t axes() const { return permute_.indices.size(); }
  Term number(std::int64_t value) { return b_.constant(value); }
  const std::string& index_name(size_t axis) const {
    return declared_.index_name(permute_.indices[axis]);
  }

  void declare(const plan::PermuteLoad& load) {
    Input input;
    input.load = &load;
    input.node = &declared_.kernel.node(load.load);
    const auto& tensor = declared_.tensor(std::get<sema::Load>(input.node->what).tensor);
    // A staged input is read along its own memory, by threads laid out for it. Others are read
    // where the output is computed, by the work layout.
    const int vector = load.staged ? load.vector : permute_.vector;
    const int count = plan::accesses_of(load.staged ? load.threads : permute_.work);
    declared_.from(input.node->where, "(element,access) of this thread's part of " + tensor.name);
    input.ahead = b_.registers(fresh(tensor.name + "_ahead"), tensor.element,
                               Layout(tuple(vector, count), tuple(1, vector)));
    if (load.staged) {
      declared_.from(input.node->where, "coordinate in the tile -> offset in elements");
      input.shared = b_.shared(fresh(tensor.name + "_shared"), tensor.element, load.shared, 16);
      declared_.from(input.node->where, "the elements of one access");
      input.here =
          b_.registers(fresh(tensor.name + "_here"), tensor.element, Layout(permute_.vector, 1));
    }
    inputs_.push_back(input);
  }

  void declare(const plan::PermuteStore& store) {
    const auto& assignment = declared_.kernel.assignments[static_cast<size_t>(store.assignment)];
    const auto& tensor = declared_.tensor(assignment.target);
    BufferId values;
    // An output that only moves elements (Y[j,i] = X[i,j] of one type) is stored from the registers
    // that hold the input.
    if (!copied(assignment)) {
      declared_.from(assignment.where, "values for one access");
      values =
          b_.registers(fresh(tensor.name + "_out"), tensor.element, Layout(permute_.vector, 1));
    }
    outputs_.push_back(values);
  }

  // The input whose elements an output takes over as they are.
  const Input* copied(const sema::Assignment& assignment) const {
    for (const Input& input : inputs_) {
      const bool same = input.load->load == assignment.value &&
                        declared_.tensor(std::get<sema::Load>(input.node->what).tensor).element ==
                            declared_.tensor(assignment.target).element;
      if (same) return &input;
    }
    return nullptr;
  }

  // The coordinates of the block's tile; whether there is one.
  Term find_tile(Term block) {
    // Digit by digit, as tiles of a GEMM are found (lower_tiles.cpp), for any number of axes.
    const auto extents = leaves(permute_.order.shape), strides = leaves(permute_.order.stride);
    tile_.assign(axes(), number(0));
    Term rest = block;
    for (size_t i = 0; i < extents.size(); ++i) {
      const bool last = i + 1 == extents.size();
      const Term extent = b_.size(extents[i].value());
      const Term here = last ? rest : rest % extent;
      if (strides[i].is_basis()) {
        Term& at = tile_[static_cast<size_t>(strides[i].path()[0])];
        at = at + here * b_.size(strides[i].value());
      }
      if (!last) rest = b_.let(fresh("rest"), rest / extent);
    }
    Term real = number(0) == 0;
    for (size_t axis = 0; axis < axes(); ++axis) {
      const int extent = permute_.tile[axis];
      tile_[axis] = b_.let(declared_.name(index_name(axis) + "_tile"), tile_[axis] * extent);
      real = real && tile_[axis] < declared_.extent(permute_.indices[axis]);
    }
    return real;
  }

  Place place(const Layout& layout, const std::string& what, const std::string& suffix) {
    Place made;
    made.layout = &layout;
    declared_.from(declared_.kernel.where,
                   what + ", (thread,value) -> coordinate: " + layout.to_string());
    const Term thread = b_.special(Builtin::thread);
    for (size_t axis = 0; axis < axes(); ++axis) {
      const Layout step = along(layout[0], static_cast<int>(axis));
      // Two coordinates: inside the tile for shared memory, and in the output for global memory.
      // Along an axis that no thread moves on they are 0 and the tile's first.
      made.inside.push_back(
          stays(step) ? number(0)
                      : b_.let(fresh(index_name(axis) + "_in" + suffix), b_.at(step, thread)));
      made.first.push_back(stays(step) ? tile_[axis]
                                       : b_.let(fresh(index_name(axis) + "_first" + suffix),
                                                tile_[axis] + made.inside[axis]));
    }
    // A small tile may have work for fewer threads than the block has.
    const int workers = plan::threads_of(layout);
    made.everybody = workers == permute_.threads;
    made.works = thread < workers;
    return made;
  }

  // For every access of the thread: its number, the coordinates in the tile and in the outputs, and
  // whether it takes place.
  template <class Body>
  void each_access(const Place& place, Body body) {
    const Layout rest = (*place.layout)[1][1];
    const int count = plan::accesses_of(*place.layout);
    const auto step = [&](Term access) {
      Coordinates inside = place.inside, at = place.first;
      Term real = place.everybody ? number(0) == 0 : place.works;
      for (size_t axis = 0; axis < axes(); ++axis) {
        const Layout move = along(rest, static_cast<int>(axis));
        if (!stays(move)) {
          const Term by = b_.at(move, access);
          inside[axis] = inside[axis] + by;
          at[axis] = at[axis] + by;
        }
        const Int& extent =
            declared_.kernel.indices[static_cast<size_t>(permute_.indices[axis])].extent;
        const int tile = permute_.tile[axis];
        // A tile that divides a literal extent never reaches outside, and one of extent 1 begins
        // inside: both need no comparison.
        const bool whole = tile == 1 || (extent.is_literal() && extent.value() % tile == 0);
        if (!whole) real = real && at[axis] < b_.size(extent);
      }
      body(access, inside, at, real);
    };
    if (count == 1) {
      step(number(0));
    } else {
      b_.loop(declared_.name("access"), number(0), number(count), {.unrolled = true}, step);
    }
  }

  // `body(element)` for 0, step, 2 * step, ... below count.
  template <class Body>
  void each_element(int count, int step, Body body) {
    if (count == step) {
      body(number(0));
    } else {
      b_.loop(declared_.name("element"), number(0), number(count), {.step = step, .unrolled = true},
              body);
    }
  }

  static Coordinates moved(Coordinates at, int axis, Term by) {
    auto& here = at[static_cast<size_t>(axis)];
    here = here + by;
    return at;
  }

  ElementLowering element_at(const Coordinates& at, const std::vector<sema::NodeId>& given = {}) {
    ElementLowering element(declared_, given);
    for (size_t axis = 0; axis < axes(); ++axis) element.bind(permute_.indices[axis], at[axis]);
    return element;
  }

  // Global -> registers.
  void read(Input& input, const Place& work) {
    const plan::PermuteLoad& load = *input.load;
    const std::string& name = declared_.tensor(std::get<sema::Load>(input.node->what).tensor).name;
    Place own;
    if (load.staged) {
      own = place(load.threads, name, "_" + name);
      places_.push_back(own);
    }
    declared_.from(input.node->where, name + ": global -> registers");
    const int elements = load.staged ? load.vector : permute_.vector;
    each_access(load.staged ? own : work,
                [&](Term access, const Coordinates&, const Coordinates& at, Term real) {
                  each_element(elements, load.vector, [&](Term element) {
                    ElementLowering lowering = element_at(moved(at, load.run_axis, element));
                    const Ref from = lowering.source(load.load);
                    PlainCopy& made = b_.copy({input.ahead, {element, access}}, from, load.vector,
                                              0, load.vector_mode);
                    made.guard.predicate = real;
                    made.guard.zero_fill = true;
                  });
                });
  }

  // Coordinates of a staged input's tile: 0 along indices that it does not depend on.
  Ref shared_at(const Input& input, const Coordinates& inside) {
    const auto& any = input.load->shared;
    const Layout& layout = std::holds_alternative<Layout>(any) ? std::get<Layout>(any)
                                                               : std::get<Composed>(any).layout();
    Ref made{input.shared, {}};
    for (size_t axis = 0; axis < axes(); ++axis) {
      // Bias[n] in a tile (m,n) has one row in shared memory, which all m share.
      const bool there = !size(layout[static_cast<int>(axis)]).is(1);
      made.coordinate.push_back(there ? inside[axis] : number(0));
    }
    return made;
  }

  // Registers -> shared, element by element.
  void put(const Input& input) {
    const plan::PermuteLoad& load = *input.load;
    // In the order in which `read` made them: staged inputs only.
    const Place own = places_[next_place_++];
    declared_.from(input.node->where,
                   declared_.tensor(std::get<sema::Load>(input.node->what).tensor).name +
                       ": registers -> shared");
    const auto write = [&] {
      each_access(own, [&](Term access, const Coordinates& inside, const Coordinates&, Term) {
        each_element(load.vector, 1, [&](Term element) {
          // Reads run along the input's memory, later reads of shared memory along the output's:
          // the transpose happens in between, and the layout `shared` keeps both from bank
          // conflicts.
          b_.assign(shared_at(input, moved(inside, load.run_axis, element)),
                    b_.read({input.ahead, {element, access}}));
        });
      });
    };
    if (own.everybody) {
      write();
    } else {
      b_.when(own.works, write);
    }
  }

  void compute(const Place& work) {
    const auto first = static_cast<size_t>(permute_.stores.front().assignment);
    declared_.from(declared_.kernel.assignments[first].where, "the elements of this thread");
    each_access(work,
                [&](Term access, const Coordinates& inside, const Coordinates& at, Term real) {
                  b_.when(real, [&] {
                    for (const Input& input : inputs_) {
                      if (!input.load->staged) continue;
                      declared_.from(input.node->where, "shared -> registers");
                      each_element(permute_.vector, input.load->read_vector, [&](Term element) {
                        b_.copy({input.here, {element}},
                                shared_at(input, moved(inside, permute_.run_axis, element)),
                                input.load->read_vector, 0, permute_.run_axis);
                      });
                    }
                    values(access, at);
                    for (size_t o = 0; o < outputs_.size(); ++o) store(o, access, at);
                  });
                });
  }

  // This thread's element of an input, read ahead.
  Ref held(const Input& input, Term access, Term element) {
    return input.load->staged ? Ref{input.here, {element}} : Ref{input.ahead, {element, access}};
  }

  void values(Term access, const Coordinates& at) {
    const auto& kernel = declared_.kernel;
    const bool all_copied =
        // Nothing to compute: every output is a copy.
        std::all_of(outputs_.begin(), outputs_.end(), [](BufferId id) { return !id; });
    if (all_copied) return;
    std::vector<sema::NodeId> given;
    for (const Input& input : inputs_) given.push_back(input.load->load);
    each_element(permute_.vector, 1, [&](Term element) {
      ElementLowering lowering = element_at(moved(at, permute_.run_axis, element), given);
      for (const Input& input : inputs_) {
        lowering.know(input.load->load,
                      // The kernel's arithmetic may be in a wider type than the tensor's.
                      b_.cast(b_.read(held(input, access, element)), input.node->type));
      }
      for (size_t o = 0; o < outputs_.size(); ++o) {
        const auto& assignment =
            kernel.assignments[static_cast<size_t>(permute_.stores[o].assignment)];
        if (!outputs_[o]) continue;
        declared_.from(assignment.where);
        b_.assign({outputs_[o], {element}},
                  lowering.value(assignment.value, declared_.tensor(assignment.target).element));
      }
    });
  }

  void store(size_t output, Term access, const Coordinates& at) {
    const plan::PermuteStore& store = permute_.stores[output];
    const sema::Assignment& assignment =
        declared_.kernel.assignments[static_cast<size_t>(store.assignment)];
    declared_.from(assignment.where);
    const Input* same = outputs_[output] ? nullptr : copied(assignment);
    each_element(permute_.vector, store.vector, [&](Term element) {
      ElementLowering lowering = element_at(moved(at, permute_.run_axis, element));
      const Ref from = same ? held(*same, access, element) : Ref{outputs_[output], {element}};
      b_.copy(lowering.element(assignment.target, assignment.indices), from, store.vector,
              store.vector_mode, 0);
    });
  }

  Declared& declared_;
  Builder& b_;
  const plan::Permute& permute_;
  std::vector<Input> inputs_;
  std::vector<BufferId> outputs_;  // values for one access; none where an input is taken over
  std::vector<Term> tile_;         // the tile's first element
  std::vector<Place> places_;      // of staged inputs, in order
  size_t next_place_ = 0;
  std::set<std::string> named_;
};

void lower_parts(Declared& declared, const std::vector<const plan::Permute*>& parts) {
  Builder& b = declared.b;
  std::vector<PermuteLowering> lowerings;
  const int threads = parts.front()->threads;
  int together = parts.front()->blocks_per_sm;
  Int blocks = 0;
  bool staged = false;
  for (const plan::Permute* part : parts) {
    staged = lowerings.emplace_back(declared, *part).is_staged() || staged;
    blocks += size(part->order);
    together = std::min(together, part->blocks_per_sm);
  }
  const BarrierId barrier = staged ? b.block_barrier() : BarrierId{};
  b.kernel.launch = {{blocks, 1, 1}, {1, 1, 1}, threads, together};
  // A part takes the blocks up to its count, the next one the rest.
  const std::function<void(size_t, Term)> run = [&](size_t i, Term block) {
    // Blocks 0 to count_0 - 1 do part 0, the next count_1 part 1, and so on: a chain of comparisons
    // that are the same for a whole block.
    if (i + 1 == parts.size()) return lowerings[i].run(block, barrier);
    const Term count = b.let(declared.name("blocks"), b.size(size(parts[i]->order)));
    b.when(
        block < count, [&] { lowerings[i].run(block, barrier); },
        [&] { run(i + 1, b.let(declared.name("block"), block - count)); });
  };
  b.role("all", 0, threads, [&] { run(0, b.special(Builtin::block_x)); });
}

}  // namespace

void lower_permute(Declared& declared, const plan::Permute& permute) {
  lower_parts(declared, {&permute});
}

void lower_copies(Declared& declared, const plan::Copies& copies) {
  std::vector<const plan::Permute*> parts;
  for (const plan::Permute& part : copies.parts) parts.push_back(&part);
  lower_parts(declared, parts);
}

}  // namespace lay::ir
