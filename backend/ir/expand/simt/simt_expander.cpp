#include "backend/ir/expand/simt/simt_expander.h"

#include <algorithm>

#include "backend/ir/lower/lower_tiles.h"
#include "backend/plan/copies.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/order.h"
#include "backend/plan/simt/bind_simt.h"
#include "backend/tile/products/product.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {

namespace {

// The stages of a tile, one behind the other; a swizzle's stages begin where its pattern begins.
AnyLayout with_stages(const AnyLayout& tile, int elements, int stages, int alignment) {
  const auto behind = [&](const Layout& layout, std::int64_t step) {
    return Layout(append(layout.shape, Tuple(stages)), append(layout.stride, Tuple(step)));
  };
  // A swizzle moves bits b + m + |s| of an offset at most, so a stage that begins at a multiple of
  // 1 << (b + m + |s|) is swizzled as the first one is: 512 elements for Sw<3,3,3>.
  const auto rounded = [&](std::int64_t to) { return (elements + to - 1) / to * to; };
  if (const auto* layout = std::get_if<Layout>(&tile)) return behind(*layout, rounded(alignment));
  Composed composed = std::get<Composed>(tile);
  std::int64_t pattern = alignment;
  if (const auto* swizzle = std::get_if<Swizzle>(&composed.outer)) {
    pattern = std::max<std::int64_t>(
        pattern, std::int64_t{1} << (swizzle->b + swizzle->m + std::abs(swizzle->s)));
  }
  composed.inner = behind(composed.layout(), rounded(pattern));
  return composed;
}

// Elements that are converted on the way are put into shared memory one by one.
int store_vector(const tile::ProductParts::Operand& operand) {
  const auto* put = operand.put ? std::get_if<tile::Copy>(&operand.put->node) : nullptr;
  return put ? put->vector : 1;
}

int accesses(const plan::OperandCopy& copy) {
  return static_cast<int>(size(copy.threads[1][1]).value());
}

}  // namespace

SimtExpander::SimtExpander(Declared& declared, const tile::Program& program)
    : declared_(declared), b_(declared.b), gemm_(plan::simt_of(program)), sync_(declared, program) {
  // A 128 x 128 tile with groups (2,4), lanes (4,8) and lane tiles (4,4) repeats 4 x 1 times: a
  // thread holds 16 x 4 accumulators, kept row by row.
  held_ = stored_ = gemm_.held();
  const tile::ProductParts parts = tile::parts_of(program);
  a_operand_.store_vector = store_vector(parts.operands[0]);
  b_operand_.store_vector = store_vector(parts.operands[1]);
  declare(a_operand_, gemm_.a, 0);
  declare(b_operand_, gemm_.b, 1);
  declared_.from(declared_.kernel.node(gemm_.contraction).where,
                 "(thread,value) -> (m,n): " + gemm_.accumulators.to_string());
  accumulators_ = b_.registers(declared_.name("acc"), gemm_.accumulator,
                               Layout(tuple(held_[0], held_[1]), tuple(held_[1], 1)));
  if (gemm_.groups[2] > 1) {
    // Strides (held * threads, threads, 1): threads of a warp write neighbouring words, without
    // conflicts.
    const int threads = gemm_.slice_threads();
    declared_.from(declared_.kernel.node(gemm_.contraction).where,
                   "(i,j,thread of a slice): the sums of one slice");
    handed_ = b_.shared(
        declared_.name("handed"), gemm_.accumulator,
        Layout(tuple(held_[0], held_[1], threads), tuple(held_[1] * threads, threads, 1)), 16);
  }
  all_ = sync_.declare_meeting(tile::Barrier::Scope::block);
  if (gemm_.parts > 1) declare_parts();
  if (gemm_.ring()) declare_ring();
}

void SimtExpander::declare(Operand& operand, const plan::OperandCopy& copy, int axis) {
  operand.copy = &copy;
  operand.axis = axis;
  operand.name = axis == 0 ? "A" : "B";
  const sema::Node& node = declared_.kernel.node(copy.load);
  const sema::TensorId tensor = std::get<sema::Load>(node.what).tensor;
  operand.global = declared_.tensors[static_cast<size_t>(tensor)];
  // TMA writes shared memory at multiples of 128 bytes; threads access 16 bytes at most.
  const int alignment = copy.boxes ? 128 : 16;  // bytes
  const std::string lower = axis == 0 ? "a" : "b";
  declared_.from(node.where, "(outer,k,stage) -> offset in elements");
  operand.shared = b_.shared(declared_.name(operand.name + "_shared"), gemm_.accumulator,
                             with_stages(copy.shared, plan::stage_elements(copy), gemm_.stages,
                                         alignment * 8 / bits(gemm_.accumulator)),
                             alignment);
  // Elements that go through registers wait there in the tensor's own type and are converted when
  // stored: a thread's part of the next K tile is in flight during the products of this one.
  if (!copy.boxes) {
    declared_.from(node.where, "(element,access) of this thread's part of the next K tile");
    operand.staged =
        b_.registers(declared_.name(lower + "_next"), declared_.tensor(tensor).element,
                     Layout(tuple(copy.vector, accesses(copy)), tuple(1, copy.vector)));
  }
  declared_.from(node.where, "this thread's elements for one k");
  operand.fragment = b_.registers(declared_.name(lower), gemm_.accumulator,
                                  Layout(held_[static_cast<size_t>(axis)], 1));
}

void SimtExpander::run() {
  const plan::Tiling tiling = plan::tiling_of(gemm_);
  b_.kernel.launch = {{plan::places(declared_.kernel, gemm_.order, tiling) * gemm_.parts, 1, 1},
                      {gemm_.parts, 1, 1},
                      sync_.threads(),
                      gemm_.blocks_per_sm};
  // A block has one tile. Both roles of a ring bind it for themselves.
  const WithTile with_its_tile = [&](const std::function<void(const std::vector<Term>&)>& then) {
    const Term block = b_.special(Builtin::block_x);
    TileScheduler(declared_, gemm_.order, tiling, TileScheduler::Tiles::one)
        .with_tile(gemm_.parts > 1 ? block / gemm_.parts : block, then);
  };
  if (gemm_.ring()) return run_ring(with_its_tile);
  if (gemm_.parts > 1) {
    declared_.from(declared_.kernel.where);
    b_.inside(b_.kernel.prologue, [&] { meet_blocks(); });
  }
  sync_.role(0, [&] { with_its_tile([&](const std::vector<Term>& tile) { body(tile); }); });
}

// Where a thread that copies begins.
void SimtExpander::place_copy(Term tile, Operand& operand, Term thread) {
  const plan::OperandCopy& copy = *operand.copy;
  const auto axis = static_cast<size_t>(operand.axis);
  const std::string lower = operand.axis == 0 ? "a" : "b", outer = operand.axis == 0 ? "m" : "n";
  declared_.from(
      declared_.kernel.node(copy.load).where,
      operand.name + ": (thread,value) -> (" + outer + ",k): " + copy.threads.to_string());
  const Layout threads = copy.threads[0];
  // (thread, value) -> (outer, k) is linear, so a thread's place is computed once, and accesses add
  // their part of the layout.
  operand.outer = b_.let(declared_.name(lower + "_" + outer), b_.at(along(threads, 0), thread));
  operand.k = b_.let(declared_.name(lower + "_k"), b_.at(along(threads, 1), thread));
  operand.first = b_.let(declared_.name(lower + "_first"), tile * gemm_.tile[axis] + operand.outer);
}

// Where a thread that multiplies reads.
void SimtExpander::place(Operand& operand) {
  const auto axis = static_cast<size_t>(operand.axis);
  // The lane grid counts lane tiles: a lane at (1,2) with tiles of 4 x 4 begins at element (4,8) of
  // its warp's part.
  const Layout lanes = lay::scaled(gemm_.lanes, {gemm_.lane_tile[0], gemm_.lane_tile[1]});
  Term warp = b_.special(Builtin::warp);
  // Slices repeat the same grid of warps over other parts of k.
  if (gemm_.groups[2] > 1) warp = warp % (gemm_.groups[0] * gemm_.groups[1]);
  const Term group = operand.axis == 0 ? warp % gemm_.groups[0] : warp / gemm_.groups[0];
  const int part = gemm_.tile[axis] / gemm_.groups[axis];
  operand.fragment_first =
      b_.let(declared_.name(operand.axis == 0 ? "row" : "column"),
             group * part + b_.at(along(lanes, operand.axis), b_.special(Builtin::lane)));
}

void SimtExpander::body(const std::vector<Term>& tile) {
  batch_.assign(tile.begin() + 2, tile.end());
  if (!gemm_.ring()) {
    place_copy(tile[0], a_operand_, b_.special(Builtin::thread));
    place_copy(tile[1], b_operand_, b_.special(Builtin::thread));
  }
  place(a_operand_);
  place(b_operand_);
  const bool slices = gemm_.groups[2] > 1;
  if (slices) {
    declared_.from(declared_.kernel.node(gemm_.contraction).where, "which part of every K tile");
    slice_ = b_.let(declared_.name("slice"),
                    b_.special(Builtin::warp) / (gemm_.groups[0] * gemm_.groups[1]));
  }
  if (gemm_.ring()) {
    empty_ring();
  } else {
    main_loop();
  }
  // Only the sums of slice 0 are stored, once those of the others have been added to them.
  if (slices) add_slices();
  declared_.from(declared_.kernel.assignments[0].where, "this thread's first element");
  output_first_ = {
      b_.let(declared_.name("m_first"), tile[0] * gemm_.tile[0] + a_operand_.fragment_first),
      b_.let(declared_.name("n_first"), tile[1] * gemm_.tile[1] + b_operand_.fragment_first)};
  if (slices) {
    b_.when(slice_ == 0, [&] { store_sums(); });
  } else {
    store_sums();
  }
}

void SimtExpander::store_sums() {
  if (gemm_.parts == 1) return epilogue();
  const size_t axis = gemm_.shared_out();
  stored_[axis] = gemm_.stored_of_part();
  first_stored_ = b_.let(declared_.name("first_stored"), part_ * stored_[axis]);
  send_parts();
  add_parts();
  epilogue();
}

std::optional<Term> SimtExpander::is_stored(Term i) const {
  const size_t axis = gemm_.shared_out();
  if (stored_[axis] * gemm_.parts == held_[axis] || stored_[axis] == held_[axis])
    return std::nullopt;
  return first_stored_ + i < held_[axis];
}

std::array<Term, 2> SimtExpander::k_tiles() {
  const Term all = b_.size(plan::tiles(declared_.kernel, gemm_.k, gemm_.tile[2]));
  if (gemm_.parts == 1) return {number(0), all};
  declared_.from(declared_.kernel.node(gemm_.contraction).where, "this block's part of K");
  part_ = b_.let(declared_.name("part"), b_.special(Builtin::cluster_rank));
  return {b_.let(declared_.name("first_tile"), all * part_ / gemm_.parts),
          b_.let(declared_.name("end_tile"), all * (part_ + 1) / gemm_.parts)};
}

Ref SimtExpander::operand_at(const Operand& operand, Term outer, Term k) const {
  std::vector<std::pair<sema::IndexId, Term>> at{{gemm_.k, k}, {operand.copy->outer, outer}};
  for (size_t i = 0; i < batch_.size(); ++i) at.emplace_back(gemm_.batch[i], batch_[i]);
  return element_at(declared_, operand.copy->load, at);
}

void SimtExpander::each_access(const Operand& operand,
                               const std::function<void(Term, Term, Term)>& body) {
  const Layout rest = operand.copy->threads[1][1];
  const int count = accesses(*operand.copy);
  const auto step = [&](Term access) {
    // Most layouts move along one axis from access to access; along the other one all strides are 0
    // and no arithmetic is emitted.
    const auto move = [&](int axis) {
      const Layout layout = along(rest, axis);
      const auto strides = leaves(layout.stride);
      const bool still = std::all_of(strides.begin(), strides.end(),
                                     [](const Tuple& d) { return d.is_literal(0); });
      return still || count == 1 ? number(0) : b_.at(layout, access);
    };
    body(access, move(0), move(1));
  };
  if (count == 1) {
    step(number(0));
  } else {
    b_.loop("access", number(0), number(count), {.unrolled = true}, step);
  }
}

void SimtExpander::load(Operand& operand, Term k_first) {
  const plan::OperandCopy& copy = *operand.copy;
  declared_.from(declared_.kernel.node(copy.load).where, operand.name + ": global -> registers");
  each_access(operand, [&](Term access, Term outer_step, Term k_step) {
    const Term outer = operand.first + outer_step, k = k_first + operand.k + k_step;
    PlainCopy& made = b_.copy({operand.staged, {number(0), access}}, operand_at(operand, outer, k),
                              copy.vector, 0, copy.vector_mode);
    // A vector is inside or outside as a whole: the plan reads vectors along a mode only where the
    // variant's conditions make its extent a multiple of them.
    made.guard.predicate = outer < extent(copy.outer) && k < extent(gemm_.k);
    made.guard.zero_fill = true;
  });
}

void SimtExpander::store(Operand& operand, Term stage) {
  const plan::OperandCopy& copy = *operand.copy;
  const int vector = operand.store_vector;
  declared_.from(declared_.kernel.node(copy.load).where,
                 operand.name + ": registers -> shared" +
                     (copy.along_k && copy.vector > 1 ? ", transposed" : ""));
  each_access(operand, [&](Term access, Term outer_step, Term k_step) {
    const Term outer = operand.outer + outer_step, k = operand.k + k_step;
    // Elements of an access are neighbours along k or along the outer index in memory; shared
    // memory has them along the outer index (outer, k), so that a K-major operand is transposed on
    // this way.
    const auto at = [&](Term element) {
      return copy.along_k ? Ref{operand.shared, {outer, k + element, stage}}
                          : Ref{operand.shared, {outer + element, k, stage}};
    };
    const auto move = [&](Term element) {
      // A vector is moved as it is: the tensor's type is the accumulator's, and the elements are
      // neighbours in shared memory too.
      if (vector > 1) {
        b_.copy(at(element), {operand.staged, {element, access}}, vector, 0, 0);
      } else {
        stage_element(operand, access, element, at(element));
      }
    };
    if (copy.vector == vector) {
      move(number(0));
    } else {
      b_.loop("element", number(0), number(copy.vector), {.step = vector, .unrolled = true}, move);
    }
  });
}

// One element, converted to the accumulator's type on the way.
void SimtExpander::stage_element(Operand& operand, Term access, Term element, const Ref& to) {
  // `value` may wrap the load in casts, as in f32(A[m,k]): the element in registers stands for the
  // load.
  ElementLowering conversion(declared_, {operand.copy->load});
  conversion.know(operand.copy->load, b_.read({operand.staged, {element, access}}));
  b_.assign(to, b_.cast(conversion.value(operand.copy->value), gemm_.accumulator));
}

// One column of the tile in registers: the elements of a lane along the outer index, `lane_tile` of
// which are neighbours and may be one 128-bit access.
void SimtExpander::read_fragment(Operand& operand, Term k, Term stage) {
  const auto axis = static_cast<size_t>(operand.axis);
  const int vector = plan::fragment_vector(gemm_.accumulator, gemm_.lane_tile[axis]);
  declared_.from(declared_.kernel.node(operand.copy->load).where,
                 operand.name + ": shared -> fragment");
  const auto move = [&](Term i) {
    b_.copy({operand.fragment, {i}}, {operand.shared, {inside(operand.axis, i), k, stage}}, vector,
            0, 0);
  };
  if (held_[axis] == vector) {
    move(number(0));
  } else {
    b_.loop("i", number(0), number(held_[axis]), {.step = vector, .unrolled = true}, move);
  }
}

void SimtExpander::products(Term stage) {
  // Each slice takes its own steps of every K tile: slice s has k from s * steps on.
  const int steps = gemm_.tile[2] / gemm_.groups[2];
  b_.loop(declared_.index_name(gemm_.k), number(0), number(steps), {.unrolled = true},
          [&](Term step) {
            const Term k = gemm_.groups[2] > 1 ? slice_ * steps + step : step;
            read_fragment(a_operand_, k, stage);
            read_fragment(b_operand_, k, stage);
            declared_.from(declared_.kernel.node(gemm_.contraction).where, "outer product");
            b_.mma(MmaKind::simt, {accumulators_, {}}, {a_operand_.fragment, {}},
                   {b_operand_.fragment, {}});
          });
}

void SimtExpander::main_loop() {
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  const int k_tile = gemm_.tile[2];
  // Two stages, one barrier an iteration. Stage t % 2 is read while stage 1 - t % 2 is filled; the
  // barrier at the end says both that the next tile is there and that this one has been read.
  const auto [first_tile, end_tile] = k_tiles();
  const Term first = first_tile, end = end_tile;  // for the lambdas
  declared_.from(where, "accumulators");
  b_.fill(accumulators_, b_.constant(std::int64_t{0}, gemm_.accumulator));
  load(a_operand_, first * k_tile);
  load(b_operand_, first * k_tile);
  store(a_operand_, number(0));
  store(b_operand_, number(0));
  declared_.from(where, "the first K tile is in shared memory");
  b_.sync(all_);
  declared_.from(where, "K tile by K tile, the next one on its way");
  b_.loop(declared_.name("tile_k"), first, end, {}, [&](Term tile) {
    const Term next = b_.let(declared_.name("next"), tile + 1);
    const Term stage =
        b_.let(declared_.name("stage"), (gemm_.parts > 1 ? tile - first : tile) % gemm_.stages);
    b_.when(next < end, [&] {
      load(a_operand_, next * k_tile);
      load(b_operand_, next * k_tile);
      declared_.from(where, "issued before the products");
      // The loads stay ahead of the products: without a fence the compiler may sink them to their
      // first use, where their latency is no longer hidden.
      b_.emit(Fence{FenceKind::warp});
    });
    products(stage);
    declared_.from(where);
    b_.when(next < end, [&] {
      store(a_operand_, number(1) - stage);
      store(b_operand_, number(1) - stage);
    });
    declared_.from(where, "the next K tile is in shared memory, and this one is no longer needed");
    b_.sync(all_);
  });
}

// In the order of the slices, so that every run gives the same bits.
void SimtExpander::add_slices() {
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  const Term thread = b_.special(Builtin::thread) % gemm_.slice_threads();
  const auto each = [&](const std::function<void(Term, Term)>& body) {
    b_.loop("i", number(0), number(held_[0]), {.unrolled = true}, [&](Term i) {
      b_.loop("j", number(0), number(held_[1]), {.unrolled = true}, [&](Term j) { body(i, j); });
    });
  };
  // One buffer for all slices: slice 2 may write it when slice 0 has read what slice 1 gave, hence
  // the barrier before each but the first. Barriers are outside the branches, since all threads
  // meet.
  for (int slice = 1; slice < gemm_.groups[2]; ++slice) {
    declared_.from(where, "slice " + std::to_string(slice) + " hands over its sums");
    if (slice > 1) b_.sync(all_);
    b_.when(slice_ == slice, [&] {
      each([&](Term i, Term j) {
        b_.assign({handed_, {i, j, thread}}, b_.read({accumulators_, {i, j}}));
      });
    });
    b_.sync(all_);
    b_.when(slice_ == 0, [&] {
      each([&](Term i, Term j) {
        b_.assign({accumulators_, {i, j}},
                  b_.read({accumulators_, {i, j}}) + b_.read({handed_, {i, j, thread}}));
      });
    });
  }
}

Term SimtExpander::inside(int axis, Term i) {
  const auto a = static_cast<size_t>(axis);
  const Layout value = along(gemm_.accumulators[1][axis], axis);
  // A single lane tile an axis lies at consecutive elements; several repeat at the layout's
  // strides.
  return (axis == 0 ? a_operand_ : b_operand_).fragment_first +
         (held_[a] == gemm_.lane_tile[a] ? i : b_.at(value, i));
}

Term SimtExpander::position(int axis, Term i) {
  const auto a = static_cast<size_t>(axis);
  const Layout value = along(gemm_.accumulators[1][axis], axis);
  if (stored_[a] < held_[a]) i = first_stored_ + i;
  return output_first_[a] + (held_[a] == gemm_.lane_tile[a] ? i : b_.at(value, i));
}

}  // namespace lay::ir
