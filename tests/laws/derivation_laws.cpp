// The report of the rules to a listener is true, and adds up to the result.

#include <catch2/catch.hpp>

#include "frontend/algebra/support/trace.h"
#include "tests/laws/random_layouts.h"

using namespace lay;
using namespace laws;

namespace {

struct Heard {
  trace::Derivation derivation;
  std::optional<Layout> result;
};

template <typename Operation>
Heard listen(const Operation& operation) {
  Heard heard;
  const trace::Listening listening(heard.derivation);
  try {
    heard.result = operation();
  } catch (const Refusal&) {
  }
  return heard;
}

// Every Begin has its End, the first and the last entry are those of the operation itself, and it
// gives the result.
void check_frame(const Heard& heard, const std::string& name) {
  const auto& entries = heard.derivation.entries;
  REQUIRE(!entries.empty());
  REQUIRE(std::get<trace::Begin>(entries.front()).operation == name);
  int open = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (std::holds_alternative<trace::Begin>(entries[i])) ++open;
    if (std::holds_alternative<trace::End>(entries[i])) --open;
    REQUIRE((open > 0 || i + 1 == entries.size()));
  }
  REQUIRE(open == 0);
  const auto& end = std::get<trace::End>(entries.back());
  REQUIRE(end.result.has_value() == heard.result.has_value());
  if (heard.result) REQUIRE(end.result->text == trace::Item(*heard.result).text);
}

void check_meeting(const trace::Meets& m) {
  const int64_t c = m.left.extent.value(), s = m.count.value(), d = m.step.value();
  switch (m.meeting) {
    case trace::Meeting::inside:
      REQUIRE((s - 1) * d < c);
      REQUIRE((m.piece && m.piece->extent == m.count));
      break;
    case trace::Meeting::over:
      REQUIRE(d % c == 0);
      REQUIRE(!m.piece);
      break;
    case trace::Meeting::through:
      REQUIRE(c % d == 0);
      REQUIRE(s % (c / d) == 0);
      REQUIRE((m.piece && m.piece->extent.is(c / d)));
      break;
    case trace::Meeting::last:
    case trace::Meeting::still:
      REQUIRE((m.piece && m.piece->extent == m.count));
      break;
    case trace::Meeting::open:
      FAIL("of known numbers nothing stays open");
      break;
    case trace::Meeting::misfit:
      REQUIRE(!m.code.empty());
      REQUIRE((s - 1) * d >= c);
      break;
  }
}

// The pieces of all modes of the right side, side by side, are the result.
void check_composition(const Heard& heard) {
  std::vector<Mode> pieces;
  bool tabulated = false;
  for (const trace::Step& step : heard.derivation.entries) {
    if (const auto* meets = std::get_if<trace::Meets>(&step)) {
      check_meeting(*meets);
      if (meets->piece) pieces.push_back(*meets->piece);
    }
    if (const auto* carry = std::get_if<trace::Carry>(&step)) {
      int64_t reach = 0;
      for (const Int& one : carry->reaches) reach += one.value();
      REQUIRE(carry->reach.is(reach));
      REQUIRE(carry->stays == (reach < carry->left.extent.value()));
    }
    tabulated = tabulated || std::holds_alternative<trace::Tabulated>(step);
  }
  if (heard.result && !tabulated)
    REQUIRE(from_modes(pieces, {}) == from_modes(flat_modes(*heard.result), {}));
}

int64_t number(const Tuple& t) {
  return t.value().value();
}

// The sentences of frontend/sema/explain/derivation_steps.cpp say these things.
void check_claim(const trace::Join& s) {
  REQUIRE(s.joined == (s.low.extent.value() * number(s.low.stride) == number(s.high.stride)));
}
void check_claim(const trace::Gap& s) {
  REQUIRE(s.gap.is(number(s.mode.stride) / s.covered.value()));
  REQUIRE(s.gap.value() >= 1);
}
void check_claim(const trace::Rest& s) {
  REQUIRE(s.rest == ceil_div(size(s.cotarget), s.covered));
}
void check_claim(const trace::Follow& s) {
  REQUIRE((!s.mode || s.mode->stride == Tuple(s.wanted)));
}
void check_claim(const trace::Undo& s) {
  REQUIRE(number(s.mode.stride) % s.last.value() == 0);
}
void check_claim(const trace::Cast& s) {
  const int64_t extent = s.from.extent.value(), n = s.factor.value(), d = number(s.from.stride);
  const int64_t step = d < 0 ? -d : d;
  std::vector<int64_t> words;
  for (int64_t i = 0; i < extent; ++i) {
    if (i == 0 || i * step / n != words.back()) words.push_back(i * step / n);
  }
  if (s.how == trace::Casting::divided)
    REQUIRE((d % n == 0 && s.to == Layout(s.from.extent, d / n)));
  if (s.how == trace::Casting::shrunk)
    REQUIRE((n % step == 0 && number(s.to.shape) == (extent + n / step - 1) / (n / step)));
  if (s.how == trace::Casting::listed) REQUIRE(values(s.to) == words);
  if (s.how == trace::Casting::grown)
    REQUIRE(((step == 1 && s.to == Layout(extent * n, d)) || (extent == 1 && size(s.to).is(n))));
  if (s.how == trace::Casting::scaled) REQUIRE(s.to == Layout(s.from.extent, d * n));
}
template <typename Other>
void check_claim(const Other&) {}

void check_claims(const Heard& heard) {
  for (const trace::Step& step : heard.derivation.entries) {
    std::visit([](const auto& s) { check_claim(s); }, step);
  }
}

}  // namespace

TEST_CASE("a derivation of a composition adds up to its result") {
  Random random{11};
  int derived = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Layout a = random_layout(random), b = random_layout(random);
    INFO(a.to_string() << " o " << b.to_string());
    Facts facts;
    const Heard heard = listen([&] { return composition(facts, a, b); });
    check_frame(heard, "composition");
    check_composition(heard);
    derived += heard.result ? 1 : 0;
  }
  CHECK(derived > 5'000);
}

TEST_CASE("what a derivation says of symbols follows from the facts and its guards") {
  Random random{13};
  int meetings = 0, opened = 0, guards = 0;
  for (int i = 0; i < 3'000; ++i) {
    Facts facts;
    const std::vector<Int> symbols{facts.dim("M"), facts.dim("N"), facts.dim("K")};
    facts.assume(divides(symbols[0], 4));
    // A known layout with symbols in place of some leaves.
    const auto mixed = [&] {
      const auto leaf = [&](const Tuple& t) {
        return random.once_in(3) ? Tuple(symbols[static_cast<size_t>(random.in(0, 2))]) : t;
      };
      const Layout known = random_layout(random, 1, 8);
      return Layout(transform(known.shape, leaf), transform(known.stride, leaf));
    };
    const Layout a = mixed(), b = mixed();
    INFO(a.to_string() << " o " << b.to_string());
    const GuardScope scope(facts);
    const Heard heard = listen([&] { return composition(facts, a, b); });
    if (!heard.result) continue;
    check_frame(heard, "composition");
    guards += static_cast<int>(scope.guards().size());
    for (const trace::Step& step : heard.derivation.entries) {
      const auto* m = std::get_if<trace::Meets>(&step);
      if (!m) continue;
      ++meetings;
      INFO(m->count.to_string() << ":" << m->step.to_string() << " at "
                                << m->left.extent.to_string());
      if (m->meeting == trace::Meeting::inside)
        REQUIRE(facts.decide(less((m->count - 1) * m->step, m->left.extent)).verdict !=
                Verdict::refuted);
      if (m->meeting == trace::Meeting::open) {
        REQUIRE((m->piece && m->rest));
        opened += 1;
      }
      if (m->meeting == trace::Meeting::over)
        REQUIRE(facts.proves(divides(m->step, m->left.extent)));
      if (m->meeting == trace::Meeting::through) {
        REQUIRE(facts.proves(divides(m->left.extent, m->step)));
        REQUIRE(facts.proves(equal(m->piece->extent * m->step, m->left.extent)));
      }
    }
  }
  CHECK(meetings > 2'000);
  CHECK(opened > 10);
  CHECK(guards > 100);
}

TEST_CASE("derivations of the other operations frame their results, and what they say is true") {
  Random random{12};
  for (int i = 0; i < 5'000; ++i) {
    const Layout a = random_layout(random);
    INFO(a.to_string());
    Facts facts;
    const auto check = [&](const char* name, const auto& operation) {
      const Heard heard = listen(operation);
      check_frame(heard, name);
      check_claims(heard);
    };
    check("coalesce", [&] { return coalesce(facts, a); });
    check("complement", [&] { return complement(facts, a, size(a) * 2); });
    check("right_inverse", [&] { return right_inverse(facts, a); });
    check("left_inverse", [&] { return left_inverse(facts, a); });
    check("upcast", [&] { return upcast(facts, a, random.in(2, 6)); });
    check("downcast", [&] { return downcast(facts, a, 2); });
    check("recast", [&] { return recast(facts, a, 16, 32); });
  }
}

TEST_CASE("nothing is heard while nobody listens, and trials are quiet") {
  Facts facts;
  trace::Derivation derivation;
  {
    const trace::Listening listening(derivation);
    const trace::Quiet quiet;
    composition(facts, make_layout(tuple(4, 2)), Layout(2, 4));
  }
  composition(facts, make_layout(tuple(4, 2)), Layout(2, 4));
  CHECK(derivation.entries.empty());
}

TEST_CASE("what was not compared is not said to be") {
  const int64_t many = 1'000'000'000'000'000'000;
  Facts facts;
  const Heard heard = listen([&] {
    return composition(facts, Layout(tuple(many, 2), tuple(1, 7)),
                       Layout(tuple(many - 1, 2), tuple(1, 3)));
  });
  CHECK(!heard.result);
  for (const trace::Step& step : heard.derivation.entries) {
    if (const auto* tabulated = std::get_if<trace::Tabulated>(&step)) CHECK(!tabulated->compared);
  }
}

TEST_CASE("a long derivation is cut, and every operation still ends") {
  std::vector<Tuple> shape, stride;
  for (int i = 0; i < 10'000; ++i) shape.push_back(2), stride.push_back(3);
  const Layout a{Tuple(shape), Tuple(stride)};
  Facts facts;
  const Heard heard = listen([&] { return coalesce(facts, a); });
  CHECK(heard.derivation.cut);
  check_frame(heard, "coalesce");
}
