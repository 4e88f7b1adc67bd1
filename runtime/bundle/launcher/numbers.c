/* ---- numbers -----------------------------------------------------------------------------------
 * Sizes and what is computed of them, as Lay computes it: in 64 bits, and without a value where
 * that overflows or a quotient is not exact. */

#if defined(__GNUC__) || defined(__clang__)
#define LAY_MAYBE_UNUSED __attribute__((unused))
#else
#error "the launcher needs GCC or Clang: it uses their atomic operations"
#endif

typedef struct {
  int64_t value;
  int known;
} lay_number;

/* Of a condition: 1 holds, 0 does not, -1 has no value. */
typedef int lay_truth;

LAY_MAYBE_UNUSED static lay_number lay_of(int64_t value) {
  lay_number made;
  made.value = value;
  made.known = 1;
  return made;
}

static lay_number lay_unknown(void) {
  lay_number none;
  none.value = 0;
  none.known = 0;
  return none;
}

/* Without branches: a launch computes hundreds of these, and compilers take minutes over branches in
 * as many places. */
LAY_MAYBE_UNUSED static lay_number lay_add(lay_number a, lay_number b) {
  lay_number sum;
  const int overflows = __builtin_add_overflow(a.value, b.value, &sum.value);
  sum.known = a.known & b.known & !overflows;
  return sum;
}

LAY_MAYBE_UNUSED static lay_number lay_mul(lay_number a, lay_number b) {
  lay_number product;
  const int overflows = __builtin_mul_overflow(a.value, b.value, &product.value);
  product.known = a.known & b.known & !overflows;
  return product;
}

/* Rounded towards minus infinity. */
LAY_MAYBE_UNUSED static lay_number lay_floor_div(lay_number a, lay_number b) {
  const int overflows = (b.value == 0) | ((a.value == INT64_MIN) & (b.value == -1));
  const int64_t divisor = overflows ? 1 : b.value, rest = a.value % divisor;
  lay_number quotient;
  quotient.value = a.value / divisor - ((rest != 0) & ((rest < 0) != (divisor < 0)));
  quotient.known = a.known & b.known & !overflows;
  return quotient;
}

LAY_MAYBE_UNUSED static lay_number lay_exact_div(lay_number a, int64_t b) {
  lay_number quotient;
  quotient.value = a.value / b;
  quotient.known = a.known & (a.value % b == 0);
  return quotient;
}

LAY_MAYBE_UNUSED static lay_number lay_min(lay_number a, lay_number b) {
  lay_number least;
  least.value = a.value < b.value ? a.value : b.value;
  least.known = a.known & b.known;
  return least;
}

LAY_MAYBE_UNUSED static lay_number lay_max(lay_number a, lay_number b) {
  lay_number greatest;
  greatest.value = a.value > b.value ? a.value : b.value;
  greatest.known = a.known & b.known;
  return greatest;
}

LAY_MAYBE_UNUSED static lay_number lay_select(lay_truth condition, lay_number a, lay_number b) {
  lay_number chosen;
  chosen.value = condition > 0 ? a.value : b.value;
  chosen.known = (condition >= 0) & (condition > 0 ? a.known : b.known);
  return chosen;
}

/* Takes the variant in place of the best of a portfolio so far (-1: none) where it costs less. A
 * cost without a value is the greatest. */
LAY_MAYBE_UNUSED static void lay_prefer(int* best, lay_number* least, int variant,
                                        lay_number cost) {
  if (*best >= 0 && (!cost.known || (least->known && cost.value >= least->value))) return;
  *best = variant;
  *least = cost;
}

LAY_MAYBE_UNUSED static lay_truth lay_equal(lay_number a, lay_number b) {
  return a.known && b.known ? a.value == b.value : -1;
}

LAY_MAYBE_UNUSED static lay_truth lay_less(lay_number a, lay_number b) {
  return a.known && b.known ? a.value < b.value : -1;
}

LAY_MAYBE_UNUSED static lay_truth lay_less_equal(lay_number a, lay_number b) {
  return a.known && b.known ? a.value <= b.value : -1;
}

LAY_MAYBE_UNUSED static lay_truth lay_divides(lay_number a, lay_number b) {
  if (!a.known || !b.known || b.value == 0) return -1;
  return b.value == -1 || a.value % b.value == 0;
}

LAY_MAYBE_UNUSED static lay_truth lay_not(lay_truth a) {
  return a < 0 ? a : !a;
}

LAY_MAYBE_UNUSED static lay_truth lay_both(lay_truth a, lay_truth b) {
  if (a == 0 || b == 0) return 0;
  return a < 0 || b < 0 ? -1 : 1;
}

LAY_MAYBE_UNUSED static lay_truth lay_either(lay_truth a, lay_truth b) {
  if (a == 1 || b == 1) return 1;
  return a < 0 || b < 0 ? -1 : 0;
}
