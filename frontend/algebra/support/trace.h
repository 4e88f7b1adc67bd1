#pragma once

// The steps that the rules of the algebra took, for a listener: `explain` shows them.
//
//     trace::Derivation derivation;
//     {
//       trace::Listening listening(derivation);
//       composition(facts, a, b);
//     }
//     derivation.entries    Begin{"composition", {a, b}}, LeftSide, Walk, Meets ..., Carry ...,
//     End{R}
//
// A rule reports a step where it takes it; nothing here computes, so that a derivation cannot
// disagree with the result. Steps are facts, worded in one place
// (frontend/sema/explain/derivation_steps.cpp). While nobody listens a report costs the test of one
// pointer.
// A shortcut that skips a rule must ask `trace::heard()` and take the rule.

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/algebra/layouts/layout.h"
#include "frontend/algebra/layouts/mode.h"

namespace lay::trace {

// An operand or a result: its text, cut where it is long, and the layout where it is one.
struct Item {
  std::string text;
  std::optional<AnyLayout> layout;

  Item(const Layout& a) : Item(a.to_string()) { layout = a; }
  Item(const Composed& a) : Item(a.to_string()) { layout = a; }
  Item(const AnyLayout& a) : Item(lay::to_string(a)) { layout = a; }
  Item(const Swizzle& s) : Item(s.to_string()) {}
  Item(const Tuple& t) : Item(t.to_string()) {}
  Item(const Int& n) : Item(n.to_string()) {}
  Item(std::string words);
};

// An operation begins; what stands up to its End belongs to it. A def also has its parameters and
// its body as Lay text.
struct Begin {
  std::string operation;
  std::vector<Item> operands;
  std::vector<std::string> parameters;
  std::string definition;
};
struct End {
  std::optional<Item> result;  // nothing: it was refused
};

// A condition that the facts leave open was assumed.
struct Guarded {
  Guard guard;
};

// --- coalesce ------------------------------------------------------------------------------------

// A mode of extent 1.
struct Drop {
  Mode mode;
};
// Two neighbours: joined where low.extent*low.stride == high.stride.
struct Join {
  Mode low, high;
  bool joined;
};

// --- composition: count steps of `step` through the modes of the left side -----------------------

// The left side as the rules see it: coalesced, the last mode goes on for ever. `path`: the mode of
// A that it is.
struct LeftSide {
  std::vector<int> path;
  std::vector<Mode> modes;
};
// A mode of the right side.
struct Walk {
  Int count;
  Tuple step;
  int right_mode;
};

// How count steps of `step` meet a mode of `extent`.
enum class Meeting {
  inside,   // (count-1)*step < extent: it stays inside
  over,     // extent divides step: it steps over the whole mode
  through,  // step divides extent, and extent/step divides count: it fills the mode and goes on
  last,     // the last mode takes what is left
  still,    // step 0
  open,     // inside, through or over: which is not known
  misfit,   // none of these
};
// One mode of the right side at one mode of the left.
struct Meets {
  Meeting meeting;
  Mode left;
  Int count, step;            // when it gets there
  std::optional<Mode> piece;  // what it becomes here
  std::string code, missing;  // of a misfit: the refusal, what would decide
  // Open: the steps that go on.
  std::optional<Mode> rest;
};
// Several modes of the right side move in one of the left: together they stay below its extent, or
// not.
struct Carry {
  Mode left;
  std::vector<Int> reaches;
  Int reach;
  bool stays;
};
// The rules found no form; where there are not too many values all were compared.
struct Tabulated {
  bool compared;
  std::optional<Layout> found;
};

// --- complement and inverses ---------------------------------------------------------------------

// Modes by ascending stride: below this one `covered` values are reached, and `gap` copies of them
// fit.
struct Gap {
  Mode mode;
  Int covered, gap;
};
// Modes that step within what those below cover: one block of `covered` values, gap:1 beside it.
struct Interlaced {
  Mode mode;
  std::optional<Int> covered;  // none: beyond 64 bits
  Int gap;
};
// Above all modes: `rest` copies of `covered` reach the cotarget.
struct Rest {
  Tuple cotarget;
  Int covered, rest;
};
// Right inverse: the mode of A whose stride continues; nothing where none does.
struct Follow {
  Int wanted;
  std::optional<Mode> mode;
  Int place;  // what one step of it is as an index
};
// Left inverse: the modes by ascending stride, `last` is the stride below.
struct Undo {
  Mode mode;
  Int last, place;
};

// The rule does not hold; a search of all digits found this.
struct Searched {
  Layout found;
};

// --- element widths and swizzles -----------------------------------------------------------------

// How one mode is cast: its stride divided, its extent shrunk, its words listed, whole rounds of
// words, a mode that stays at 0; and for downcasts the mode that grows, or a stride that is scaled.
enum class Casting { divided, shrunk, listed, rounds, still, grown, scaled };
// One mode by `factor` elements a word.
struct Cast {
  Casting how;
  Mode from;
  Layout to;
  Int factor;
};
// A swizzle's bits seen through a layout.
struct Image {
  Layout through;
  Swizzle from;
  int64_t source, target;
  std::optional<Swizzle> to;
};

// A swizzle on elements of another width.
struct Rescaled {
  Swizzle from, to;
  int64_t factor;
};
// A swizzle after a layout.
struct Xors {
  Swizzle swizzle;
};
// Two swizzles of one shift.
struct Together {
  Swizzle a, b;
};

// --- values --------------------------------------------------------------------------------------

// The natural coordinate, and the inner product with the strides.
struct At {
  Layout layout;
  Tuple coordinate, natural, value;
};
// A slice: its part under `_`, and the value of the rest.
struct Kept {
  Tuple coordinate;
  Layout sub;
  Tuple offset;
};
// By the offset of a composed layout.
struct Moved {
  Tuple offset, from, value;
};
// A swizzle on a known number.
struct Bits {
  Swizzle swizzle;
  int64_t from, to;
};

// --- vectors and searches ------------------------------------------------------------------------

// A along a part of B's right inverse, and how many of those elements follow one another in A.
struct Common {
  Layout through, values;
  Int count;
};
// A swizzle that the other layout does not have keeps `elements` neighbours together.
struct Limited {
  Swizzle by;
  int64_t elements;
};
// An access to memory under any layout: so many accesses of `vector` elements, at least so many
// wavefronts.
struct Bound {
  std::string access;
  int64_t vector, accesses, fewest;
};
// A layout, better than those before it: its wavefronts for each access.
struct Tried {
  AnyLayout layout;
  std::vector<std::pair<std::string, int64_t>> wavefronts;
  int64_t sum;
};
// A search for a layout ends.
struct Looked {
  std::string family;
  int64_t candidates, wavefronts, fewest;
};

// --- propositions --------------------------------------------------------------------------------

// One of those that are together enough for the claim.
struct Condition {
  Predicate condition;
  bool proved;
};
// The outcome of the claim, by conditions or from the numbers. `failure`: where it fails, in words.
struct Judged {
  Verdict verdict;
  bool symbolic;
  Sizes sizes;
  std::string failure;
};

// Everything that can be reported.
using Step =
    std::variant<Begin, End, Guarded, Drop, Join, LeftSide, Walk, Meets, Carry, Tabulated, Gap,
                 Interlaced, Rest, Follow, Undo, Searched, Cast, Image, Rescaled, Xors, Together,
                 At, Kept, Moved, Bits, Common, Limited, Bound, Tried, Looked, Condition, Judged>;

// The steps of one operation and of those inside it, in order.
struct Derivation {
  std::vector<Step> entries;
  // There were more steps than are kept.
  bool cut = false;

  void add(Step step);
  void append(Derivation other);

 private:
  size_t skipped_ = 0;  // operations begun and not kept
};

// The listener of this thread; null while nobody listens, which is nearly always.
inline constinit thread_local Derivation* listener = nullptr;

// Returns true if there is a listener.
inline bool heard() {
  return listener != nullptr;
}

// report([&] { return Drop{mode}; })
// Adds the step that `make` returns, which is made only if somebody listens.
template <typename Make>
void report(const Make& make) {
  if (listener) [[unlikely]]
    listener->add(make());
}

// While it lives, what this thread derives is written down.
class Listening {
 public:
  explicit Listening(Derivation* derivation) : before_(std::exchange(listener, derivation)) {}
  explicit Listening(Derivation& derivation) : Listening(&derivation) {}
  ~Listening() { listener = before_; }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  Derivation* before_;
};

// Trials that may fail are not part of a derivation.
struct Quiet : Listening {
  Quiet() : Listening(nullptr) {}
};

// Begin and End of one operation: `return operation.gives(result)`.
class Operation {
 public:
  template <typename... Operands>
  Operation(const char* name, const Operands&... operands) {
    if (listener) [[unlikely]]
      open(Begin{name, {Item(operands)...}, {}, {}});
  }
  explicit Operation(Begin begin) {
    if (listener) open(std::move(begin));
  }
  ~Operation() {
    if (open_ && listener) listener->add(End{});
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  template <typename Result>
  Result gives(Result result) {
    if (open_ && listener) [[unlikely]] {
      open_ = false;
      listener->add(End{Item(result)});
    }
    return result;
  }

 private:
  void open(Begin begin) {
    open_ = true;
    listener->add(std::move(begin));
  }
  bool open_ = false;
};

}  // namespace lay::trace
