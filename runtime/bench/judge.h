// Says of a launch whether its result is right, on several kinds of numbers:
//
//   integers, where every sum is exact: all elements, bit for bit, against the kernel run plainly,
//   one thread an element, which is itself held against the host; over outputs full of NaN, between
//   guards uniform numbers: elements against f64 on the host, within what rounding allows (check.h)
//
// and of every one of these launches that it left its inputs as they were.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bench/check.h"
#include "runtime/bench/subject.h"

namespace lay::bench {

struct Verdict {
  bool right = true;
  std::string text;
  HostData result;  // for the uniform numbers
};

// What is measured on: uniform numbers in all inputs, the same every time.
HostData uniform_numbers(const Problem& problem);

class Judge {
 public:
  using Launch = std::function<void(int set, runtime::StreamHandle)>;

  // Uses set 0 of the operands.
  Judge(runtime::Gpu& gpu, const Sources& sources, const plan::Plan& plan, const Problem& problem,
        DeviceSets& sets);

  const HostData& uniform() const { return uniform_; }

  // NotMeasured, where a launch fails. Tensor cores add up `promotion_interval` of K by themselves,
  // 0: all of them.
  Verdict of_ours(const Launch& launch, int accumulate);
  // The same of a kernel that others compiled: on integers too its epilogue may round where ours
  // does not.
  Verdict of_stated(const Launch& launch);
  // Uniform numbers alone; `rounds_between` where it stores the product before the epilogue.
  Verdict of_opponent(const Launch& launch, bool rounds_between);
  // Whether another launch on the uniform numbers gives these bits.
  Verdict same_again(const Launch& launch, const HostData& judged);

 private:
  struct Case {
    std::string name;
    HostData before, due;  // due: of the plain kernel; empty where it is too slow
    Verdict plain;         // the plain kernel against the host
  };
  Verdict judged(const Launch& launch, int accumulate, bool same_bits);
  void add_case(std::string name, Numbers a, Numbers b);
  struct Ran {
    HostData outputs;
    std::string
        written;  // "writes its input A, at offset 5": of the first input that is not what it was
  };
  Ran result_of(const Launch& launch, const HostData& before) const;
  std::string written_input(const HostData& before) const;
  std::string difference(const HostData& due, const HostData& got) const;

  const Problem& problem_;
  DeviceSets& sets_;
  sema::TensorId a_ = -1, b_ = -1;  // the factors, in a product of matrices
  HostData uniform_;
  std::optional<Subject> plain_;
  std::vector<Case> cases_;
};

}  // namespace lay::bench
