#include "backend/ir/expand/elementwise/expand_elementwise.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "backend/ir/expand/synchronisation.h"
#include "backend/tile/elementwise/each_element.h"
#include "backend/tile/elementwise/elementwise.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/inner_layout.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {

namespace {

using tile::TileId;

bool stays(const Layout& layout) {
  const auto strides = leaves(layout.stride);
  return std::all_of(strides.begin(), strides.end(),
                     [](const Tuple& d) { return d.is_literal(0); });
}

class ElementwiseExpander {
 public:
  ElementwiseExpander(Declared& declared, const tile::Program& program)
      : declared_(declared),
        b_(declared.b),
        program_(program),
        threads_(*program.threads),
        is_of_each_(tile::is_of_each_element(program)),
        buffers_(program.tiles.size()),
        stores_(tile::stores_of(program)) {
    for (const tile::LoadWay& way : tile::loads_of(program)) declare(way);
    for (const tile::Copy* store : stores_) declare(*store);
  }

  bool is_staged() const {
    return std::any_of(inputs_.begin(), inputs_.end(),
                       [](const Input& i) { return i.way.is_staged(); });
  }

  // Emits the work of the block with this number; `all` is given where something is staged.
  void run(Term block, BarrierId all) {
    declared_.from(declared_.kernel.where, "block -> tile: " + program_.grid->layout().to_string());
    const Term real = find_tile(block);
    b_.when(real, [&] {
      Place work = place(threads_, "outputs", "");
      // All loads first, so that as many as there are inputs and accesses are in flight together.
      for (Input& input : inputs_) read(input, work);
      for (Input& input : inputs_) {
        if (input.way.is_staged()) put(input);
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
    tile::LoadWay way;
    sema::NodeId load = -1;
    const sema::Node* node = nullptr;
    const tile::Distribution* threads = nullptr;  // that read it
  };
  // Where a thread stands by a thread-value layout: coordinates in the tile and in the outputs, and
  // whether it has work.
  struct Place {
    const tile::Distribution* threads = nullptr;
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

  size_t axes() const { return program_.axes.size(); }
  sema::IndexId index(size_t axis) const { return program_.axes[axis].indices.front(); }
  const tile::Tile& tile(TileId id) const { return program_.tile(id); }
  BufferId& buffer(TileId id) { return buffers_[static_cast<size_t>(id)]; }
  const std::string& tensor_name(const Input& input) const {
    return program_.kernel->loaded(input.load).name;
  }
  const sema::Assignment& assignment(const tile::Copy& store) const {
    return program_.kernel->assignments[static_cast<size_t>(tile(store.dst).assignment)];
  }
  Term number(std::int64_t value) { return b_.constant(value); }
  // Coordinates of an axis of all indices together have 64 bits: an output of 2^31 elements or more
  // has numbers that 32 bits do not hold. Coordinates of an index do fit.
  std::string axis_name(size_t axis) const {
    return is_of_each_ ? program_.axes[axis].name : declared_.index_name(index(axis));
  }
  Term extent_of(size_t axis) {
    const Int& extent = program_.axes[axis].extent;
    return is_of_each_ ? b_.size(extent, ElementType::s64) : declared_.extent(index(axis));
  }
  Term coordinate(Term value) { return is_of_each_ ? b_.cast(value, ElementType::s64) : value; }

  void declare(const tile::LoadWay& way) {
    const tile::Tile& ahead = tile(way.load->dst);
    Input input{way, ahead.value, &declared_.kernel.node(ahead.value), &threads_};
    // A staged input is read along its own memory, by threads laid out for it. Others are read
    // where the output is computed, by the threads of the outputs.
    if (ahead.threads) input.threads = &*ahead.threads;
    const int vector = input.threads->vector, count = input.threads->accesses();
    declared_.from(input.node->where,
                   "(element,access) of this thread's part of " + tensor_name(input));
    buffer(way.load->dst) = b_.registers(fresh(ahead.name), ahead.element,
                                         Layout(tuple(vector, count), tuple(1, vector)));
    if (way.is_staged()) {
      const tile::Tile &shared = tile(way.put->dst), &here = tile(way.get->dst);
      declared_.from(input.node->where, "coordinate in the tile -> offset in elements");
      buffer(way.put->dst) =
          b_.shared(fresh(shared.name), shared.element, shared.shared->layout, 16);
      declared_.from(input.node->where, "the elements of one access");
      buffer(way.get->dst) =
          b_.registers(fresh(here.name), here.element, Layout(threads_.vector, 1));
    }
    inputs_.push_back(input);
  }

  void declare(const tile::Copy& store) {
    // An output that only moves elements (Y[j,i] = X[i,j] of one type) is stored from the registers
    // that hold the input.
    if (taken_over(store)) return;
    const tile::Tile& out = tile(store.src);
    declared_.from(assignment(store).where, "values for one access");
    buffer(store.src) = b_.registers(fresh(out.name), out.element, Layout(threads_.vector, 1));
  }

  // The input whose elements an output takes over as they are.
  const Input* taken_over(const tile::Copy& store) const {
    for (const Input& input : inputs_)
      if (input.way.held() == store.src) return &input;
    return nullptr;
  }

  // The coordinates of the block's tile; whether there is one.
  Term find_tile(Term block) {
    // Digit by digit, as tiles of a GEMM are found (lower_tiles.cpp), for any number of axes.
    const auto extents = leaves(program_.grid->layout().shape),
               strides = leaves(program_.grid->layout().stride);
    tile_.assign(axes(), coordinate(number(0)));
    Term rest = coordinate(block);
    for (size_t i = 0; i < extents.size(); ++i) {
      const bool last = i + 1 == extents.size();
      const Term extent = coordinate(b_.size(extents[i].value()));
      const Term here = last ? rest : rest % extent;
      if (strides[i].is_basis()) {
        Term& at = tile_[static_cast<size_t>(strides[i].path()[0])];
        at = at + here * coordinate(b_.size(strides[i].value()));
      }
      if (!last) rest = b_.let(fresh("rest"), rest / extent);
    }
    Term real = number(0) == 0;
    for (size_t axis = 0; axis < axes(); ++axis) {
      const int extent = program_.axes[axis].tile;
      tile_[axis] = b_.let(declared_.name(axis_name(axis) + "_tile"), tile_[axis] * extent);
      real = real && tile_[axis] < extent_of(axis);
    }
    return real;
  }

  Place place(const tile::Distribution& threads, const std::string& what,
              const std::string& suffix) {
    const Layout& layout = threads.layout;
    Place made;
    made.threads = &threads;
    declared_.from(declared_.kernel.where,
                   what + ", (thread,value) -> coordinate: " + layout.to_string());
    const Term thread = b_.special(Builtin::thread);
    for (size_t axis = 0; axis < axes(); ++axis) {
      const Layout step = along(layout[0], static_cast<int>(axis));
      // Two coordinates: inside the tile for shared memory, and in the output for global memory.
      // Along an axis that no thread moves on they are 0 and the tile's first.
      made.inside.push_back(
          stays(step) ? number(0)
                      : b_.let(fresh(axis_name(axis) + "_in" + suffix), b_.at(step, thread)));
      made.first.push_back(stays(step) ? tile_[axis]
                                       : b_.let(fresh(axis_name(axis) + "_first" + suffix),
                                                tile_[axis] + coordinate(made.inside[axis])));
    }
    // A small tile may have work for fewer threads than the block has.
    const int workers = threads.threads();
    made.everybody = workers == program_.grid->threads;
    made.works = thread < workers;
    return made;
  }

  // For every access of the thread: its number, the coordinates in the tile and in the outputs, and
  // whether it takes place.
  template <class Body>
  void each_access(const Place& place, Body body) {
    const Layout rest = place.threads->layout[1][1];
    const int count = place.threads->accesses();
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
        const Int& extent = program_.axes[axis].extent;
        const int tile = program_.axes[axis].tile;
        // A tile that divides a literal extent never reaches outside, and one of extent 1 begins
        // inside: both need no comparison.
        const bool whole = tile == 1 || (extent.is_literal() && extent.value() % tile == 0);
        if (!whole) real = real && at[axis] < extent_of(axis);
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

  // An element of the access of the outputs that begins there.
  Coordinates moved(const Coordinates& at, Term element) {
    return is_of_each_ ? at : moved(at, threads_.along, element);
  }

  ElementLowering element_at(const Coordinates& at, const std::vector<sema::NodeId>& given = {}) {
    ElementLowering element(declared_, given);
    const auto& indices = program_.axes.front().indices;
    for (size_t i = 0; i < at.size(); ++i) element.bind(is_of_each_ ? indices[i] : index(i), at[i]);
    return element;
  }

  // The coordinates of an axis' indices, of which the last runs fastest.
  Coordinates digits_of(size_t axis, Term at) {
    const auto& indices = program_.axes[axis].indices;
    Coordinates digits(indices.size());
    Term rest = at;
    for (size_t i = indices.size(); i-- > 0;) {
      const Term extent = b_.cast(declared_.extent(indices[i]), ElementType::s64);
      const Term digit = b_.cast(i == 0 ? rest : rest % extent, ElementType::s32);
      digits[i] = b_.let(declared_.index_name(indices[i]), digit);
      if (i > 0) rest = b_.let(declared_.fresh("rest"), rest / extent);
    }
    return digits;
  }

  // Global -> registers.
  void read(const Input& input, const Place& work) {
    const tile::Copy& load = *input.way.load;
    const std::string& name = tensor_name(input);
    Place own;
    if (input.way.is_staged()) {
      own = place(*input.threads, name, "_" + name);
      places_.push_back(own);
    }
    declared_.from(input.node->where, name + ": global -> registers");
    each_access(input.way.is_staged() ? own : work,
                [&](Term access, const Coordinates&, const Coordinates& at, Term real) {
                  each_element(input.threads->vector, load.vector, [&](Term element) {
                    ElementLowering lowering = element_at(moved(at, input.threads->along, element));
                    const Ref from = lowering.source(input.load);
                    PlainCopy& made = b_.copy({buffer(load.dst), {element, access}}, from,
                                              load.vector, 0, load.vector_mode);
                    made.guard.predicate = real;
                    made.guard.zero_fill = true;
                  });
                });
  }

  // Coordinates of a staged input's tile: 0 along indices that it does not depend on.
  Ref shared_at(const Input& input, const Coordinates& inside) {
    const TileId shared = input.way.put->dst;
    const Layout& layout = *inner_layout(tile(shared).shared->layout);
    Ref made{buffer(shared), {}};
    for (size_t axis = 0; axis < axes(); ++axis) {
      // Bias[n] in a tile (m,n) has one row in shared memory, which all m share.
      const bool there = !size(layout[static_cast<int>(axis)]).is(1);
      made.coordinate.push_back(there ? inside[axis] : number(0));
    }
    return made;
  }

  // Registers -> shared, element by element.
  void put(const Input& input) {
    // In the order in which `read` made them: staged inputs only.
    const Place own = places_[next_place_++];
    declared_.from(input.node->where, tensor_name(input) + ": registers -> shared");
    const auto write = [&] {
      each_access(own, [&](Term access, const Coordinates& inside, const Coordinates&, Term) {
        each_element(input.threads->vector, 1, [&](Term element) {
          // Reads run along the input's memory, later reads of shared memory along the output's:
          // the transpose happens in between, and the layout of shared memory keeps both from bank
          // conflicts.
          b_.assign(shared_at(input, moved(inside, input.threads->along, element)),
                    b_.read({buffer(input.way.load->dst), {element, access}}));
        });
      });
    };
    if (own.everybody) {
      write();
    } else {
      b_.when(own.works, write);
    }
  }

  // Shared -> registers, the elements of one access.
  void get(const Input& input, const Coordinates& inside) {
    const tile::Copy& copy = *input.way.get;
    declared_.from(input.node->where, "shared -> registers");
    each_element(threads_.vector, copy.vector, [&](Term element) {
      b_.copy({buffer(copy.dst), {element}},
              shared_at(input, moved(inside, threads_.along, element)), copy.vector, 0,
              copy.vector_mode);
    });
  }

  // Everything behind the barrier, access by access: a thread holds the elements of one.
  void compute(const Place& work) {
    declared_.from(assignment(*stores_.front()).where, "the elements of this thread");
    each_access(work,
                [&](Term access, const Coordinates& inside, const Coordinates& at, Term real) {
                  b_.when(real, [&] {
                    for (const Input& input : inputs_)
                      if (input.way.is_staged()) get(input, inside);
                    const Coordinates here = is_of_each_ ? digits_of(0, at.front()) : at;
                    values(access, here);
                    for (const tile::Copy* copy : stores_) store(*copy, access, here);
                  });
                });
  }

  // This thread's element of an input, read ahead.
  Ref held(const Input& input, Term access, Term element) {
    const BufferId here = buffer(input.way.held());
    return input.way.is_staged() ? Ref{here, {element}} : Ref{here, {element, access}};
  }

  void values(Term access, const Coordinates& at) {
    // Nothing to compute: every output is a copy.
    if (std::all_of(stores_.begin(), stores_.end(),
                    [&](const tile::Copy* copy) { return taken_over(*copy) != nullptr; }))
      return;
    std::vector<sema::NodeId> given;
    for (const Input& input : inputs_) given.push_back(input.load);
    each_element(threads_.vector, 1, [&](Term element) {
      ElementLowering lowering = element_at(moved(at, element), given);
      for (const Input& input : inputs_) {
        lowering.know(input.load,
                      // The kernel's arithmetic may be in a wider type than the tensor's.
                      b_.cast(b_.read(held(input, access, element)), input.node->type));
      }
      for (const tile::Copy* copy : stores_) {
        if (taken_over(*copy)) continue;
        declared_.from(assignment(*copy).where);
        b_.assign({buffer(copy->src), {element}},
                  lowering.value(assignment(*copy).value, tile(copy->dst).element));
      }
    });
  }

  void store(const tile::Copy& copy, Term access, const Coordinates& at) {
    const sema::Assignment& to = assignment(copy);
    declared_.from(to.where);
    const Input* same = taken_over(copy);
    each_element(threads_.vector, copy.vector, [&](Term element) {
      ElementLowering lowering = element_at(moved(at, element));
      const Ref from = same ? held(*same, access, element) : Ref{buffer(copy.src), {element}};
      b_.copy(lowering.element(to.target, to.indices), from, copy.vector, copy.vector_mode, 0);
    });
  }

  Declared& declared_;
  Builder& b_;
  const tile::Program& program_;
  const tile::Distribution& threads_;  // of the outputs
  bool is_of_each_;                    // one thread an element, on an axis of all indices
  std::vector<BufferId> buffers_;      // by tile
  std::vector<const tile::Copy*> stores_;
  std::vector<Input> inputs_;
  std::vector<Term> tile_;     // the tile's first element
  std::vector<Place> places_;  // of staged inputs, in order
  size_t next_place_ = 0;
  std::set<std::string> named_;
};

bool reads_nothing(const sema::Kernel& kernel) {
  return std::ranges::none_of(kernel.nodes, [](const sema::Node& each) {
    return std::holds_alternative<sema::Load>(each.what);
  });
}

}  // namespace

void expand_copies(Declared& declared, const std::vector<tile::Program>& programs) {
  // A thread has read all that it copies before it writes: it loses nothing where the compiler may
  // not take what it reads for constant.
  declared.from(declared.kernel.where);
  declared.b.inside(declared.b.kernel.prologue,
                    [&] { declared.b.emit(Fence{FenceKind::grid_dependency_wait}); });
  expand_elementwise(declared, programs);
}

void expand_elementwise(Declared& declared, const std::vector<tile::Program>& programs) {
  Builder& b = declared.b;
  std::vector<ElementwiseExpander> expanders;
  int together = programs.front().blocks_per_sm;
  Int blocks = 0;
  BarrierId barrier;                     // one for all programs
  std::optional<Synchronisation> first;  // whose role is that of all programs
  for (const tile::Program& program : programs) {
    expanders.emplace_back(declared, program);
    if (!barrier) {
      Synchronisation sync(declared, program);
      barrier = sync.declare_meeting();
      if (!first) first.emplace(std::move(sync));
    }
    blocks += size(program.grid->layout());
    together = std::min(together, program.blocks_per_sm);
  }
  b.kernel.launch = {{blocks, 1, 1}, {1, 1, 1}, first->threads(), together};
  // A stage that reads nothing loses nothing by it, and begins before the launches ahead have
  // ended.
  if (declared.is_stage() && reads_nothing(declared.kernel))
    b.inside(b.kernel.prologue, [&] { b.emit(Fence{FenceKind::grid_dependency_wait}); });
  // A program takes the blocks up to its count, the next one the rest: a chain of comparisons that
  // are the same for a whole block.
  const std::function<void(size_t, Term)> run = [&](size_t i, Term block) {
    if (i + 1 == programs.size()) return expanders[i].run(block, barrier);
    const Term count = b.let(declared.name("blocks"), b.size(size(programs[i].grid->layout())));
    b.when(
        block < count, [&] { expanders[i].run(block, barrier); },
        [&] { run(i + 1, b.let(declared.name("block"), block - count)); });
  };
  first->role(0, [&] { run(0, b.special(Builtin::block_x)); });
}

}  // namespace lay::ir
