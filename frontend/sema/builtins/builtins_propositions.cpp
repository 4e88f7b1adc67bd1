// Claims about layouts. As a value a claim is true or false where that holds for all sizes; what
// `prove` asks is refuted by one counterexample (Session::claiming).

#include "frontend/algebra/claims/propositions.h"
#include "frontend/sema/builtins/memory.h"

namespace lay::sema {
namespace {

std::string claim_text(const Arguments& a) {
  std::string s(a.callee());
  for (std::size_t i = 0; i < a.count(); ++i) s += (i ? ", " : "(") + text(a[i].value);
  return s + ")";
}

Value answer(Arguments& a, bool asked, const Conclusion& j) {
  if (j.verdict == Verdict::proved) return Value(Predicate(true));
  if (j.verdict == Verdict::refuted && (j.never || asked)) {
    a.session.refutation = j;
    return Value(Predicate(false));
  }
  Refusal r;
  r.code = "undecided";
  if (j.assume.empty()) {
    r.message = "whether " + claim_text(a) + " holds was not found within the steps of a decision";
    r.help = "layouts of up to 2^20 elements are walked through";
  } else {
    const bool fails = j.verdict == Verdict::refuted;
    r.message = fails ? claim_text(a) + " fails for some sizes, and perhaps not for all"
                      : "whether " + claim_text(a) + " holds depends on its sizes";
    r.sizes = j.sizes;
    for (const std::string& condition : j.assume) r.works.push_back("assume " + condition);
  }
  throw r;
}

// Returns true if `prove` asks about the claim; asked once a call.
bool asked(Arguments& a) {
  return std::exchange(a.session.claiming, false);
}

Value injective_(Arguments& a) {
  const bool prove = asked(a);
  return answer(a, prove, injective(a.facts(), a.any_layout(0)));
}

Value surjective_(Arguments& a) {
  const bool prove = asked(a);
  return answer(a, prove, surjective(a.facts(), a.any_layout(0), a.tuple(1)));
}

Value bijective_(Arguments& a) {
  const bool prove = asked(a);
  return answer(a, prove, bijective(a.facts(), a.any_layout(0)));
}

Value inside_(Arguments& a) {
  const bool prove = asked(a);
  return answer(a, prove, inside(a.facts(), a.any_layout(0), a.tuple(1)));
}

Value covers_(Arguments& a) {
  const bool prove = asked(a);
  return answer(a, prove, covers(a.facts(), a.any_layout(0), a.tuple(1)));
}

Value disjoint_(Arguments& a) {
  const bool prove = asked(a);
  const Tuple offset = a.count() > 2 ? a.tuple(2) : Tuple(0);
  return answer(a, prove, disjoint(a.facts(), a.any_layout(0), a.any_layout(1), offset));
}

// Bits of what the values count: of the type given, else of the layout's elements, else bytes.
int counted_bits(Arguments& a, std::size_t type) {
  if (a.count() > type) return element_bits(a.type(type), a[0].value);
  const int known = bits(counted_unit(a[0].value));
  return known ? known : 8;
}

Value aligned_(Arguments& a) {
  const bool prove = asked(a);
  return answer(a, prove, aligned(a.facts(), a.any_layout(0), a.integer(1), counted_bits(a, 2)));
}

Value fits_(Arguments& a) {
  const bool prove = asked(a);
  return answer(a, prove, fits(a.facts(), a.any_layout(0), a.small(1)));
}

Value same_function_(Arguments& a) {
  const bool prove = asked(a);
  return answer(a, prove, same_function(a.facts(), a.any_layout(0), a.any_layout(1)));
}

constexpr Builtin kPropositionsRows[] = {
    {"injective", "injective(L)", "no two coordinates have one value", 1, 1, injective_},
    {"surjective", "surjective(L, n)",
     "every number in 0 .. n-1 (coordinate of the shape n) is a value", 2, 2, surjective_},
    {"bijective", "bijective(L)", "the values are 0 .. size(L)-1, each once", 1, 1, bijective_},
    {"inside", "inside(L, n)", "every value lies in 0 .. n-1 (inside the shape n)", 2, 2, inside_},
    {"covers", "covers(L, S)", "every element of the shape S is a value exactly once", 2, 2,
     covers_},
    {"disjoint", "disjoint(A, B [, offset])", "A(i) != offset + B(j) for all i, j", 2, 3,
     disjoint_},
    {"aligned", "aligned(L, bytes [, type])",
     "every value, counting elements of the type, lies on a multiple of `bytes`", 2, 3, aligned_},
    {"fits", "fits(L, n)", "every value fits a signed integer of n bits", 2, 2, fits_},
    {"same_function", "same_function(A, B)", "size(A) == size(B) and A(i) == B(i) for every i", 2,
     2, same_function_},
};

}  // namespace

std::span<const Builtin> proposition_builtins() {
  return kPropositionsRows;
}

}  // namespace lay::sema
