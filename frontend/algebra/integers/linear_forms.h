#pragma once

// Inside the algebra: what equations leave of many linear forms of the same unknowns.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lay {

// IntegerEquations whose factors are known beforehand: a look at what is left of a form costs
// nothing.
//
//     LinearForms f(2, 1);  f.set(0, 5, {2, 3});     5 + 2*x0 + 3*x1
//     f.require(0, 6);                               particular (-1,1), free (3,-2) or its mirror
//
// Numbers beyond 64 bits throw Refusal "overflow".
class LinearForms {
 public:
  LinearForms(size_t unknowns, size_t forms);

  // constant + sum of factors[k]*x[k]. Before the first equation.
  void set(size_t form, int64_t constant, std::span<const int64_t> factors);

  // The form is `value`; false if no integers solve it together with those before it; then this
  // object is spent.
  bool require(size_t form, int64_t value);
  // The form less another is `value`.
  bool require_difference(size_t form, size_t less, int64_t value);
  // The form is `value` up to a multiple of `modulus`, which is above 0.
  bool require_modulo(size_t form, int64_t value, int64_t modulus);

  // The unknowns that solve the equations required so far: particular + every integer combination
  // of the free ones. So a form is its value + the same combination of its steps.
  size_t unknowns() const { return unknowns_; }
  size_t free() const { return most_.size() - 1; }
  const int64_t* particular() const { return row(0); }
  const int64_t* free(size_t k) const { return row(k + 1); }
  int64_t value(size_t form) const { return row(0)[unknowns_ + form]; }
  int64_t step(size_t k, size_t form) const { return row(k + 1)[unknowns_ + form]; }
  // Returns the factor that all steps have in common; 0 if there is one value left.
  int64_t factor(size_t form) const;

  // Returns the cost of an equation, in looks at a number.
  int64_t cost() const { return static_cast<int64_t>(numbers_.size() / 4 + 16); }

 private:
  int64_t* row(size_t r) { return numbers_.data() + r * width_; }
  const int64_t* row(size_t r) const { return numbers_.data() + r * width_; }
  size_t gather(size_t form);
  void add(size_t to, int64_t times, size_t from);
  int64_t largest(size_t r) const;
  void remove(size_t r);
  void shorten();
  bool shorten_by(size_t r, size_t by);
  long double dot(size_t r, size_t by) const;

  size_t unknowns_, width_;
  // The particular unknowns, and its forms; the same for each of the free.
  std::vector<int64_t> numbers_;
  // In each row none is of larger magnitude.
  std::vector<int64_t> most_;
};

}  // namespace lay
