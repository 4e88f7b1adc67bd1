#include "runtime/bench/triton/triton_request.h"

#include "backend/plan/mask.h"
#include "runtime/bench/baseline.h"
#include "runtime/bench/problem/strides.h"
#include "runtime/io/json.h"

namespace lay::bench {
namespace {

using runtime::JsonObject;

std::string text_json(const TritonText::Value& value) {
  return JsonObject()
      .raw("lines", runtime::json_strings(value.lines))
      .string("result", value.result)
      .text();
}

class Writer {
 public:
  Writer(const Problem& problem, const plan::GemmForm& form)
      : problem_(problem), form_(form), text_(problem, form), kernel_(*problem.kernel) {}

  TritonRequest write(int capability, int sms) {
    if (kernel_.assignments.size() != 1) throw NotInTriton{"it has several outputs"};
    for (const sema::IndexId index : {form_.m, form_.n, form_.k})
      if (problem_.extent(index) == 0) throw NotInTriton{"one of M, N and K is 0"};
    const bool tf32 = multiplied_as_tf32();
    const sema::Assignment& assignment = kernel_.assignments[0];
    const auto value = text_.of(assignment.value);
    const auto mask = plan::mask_of(kernel_, form_.contraction);
    std::optional<TritonText::Value> counts;
    if (mask) {
      counts = text_.of(mask->condition);
      if (!mask->when) counts->result = "(" + counts->result + " == 0)";
    }
    const ElementType accumulator = kernel_.node(form_.contraction).type;
    triton_type(accumulator);

    std::vector<Strides> steps{strides_of(problem_, assignment.target, assignment.indices),
                               strides_of_load(problem_, form_.a),
                               strides_of_load(problem_, form_.b)};
    for (const sema::NodeId load : text_.loads()) steps.push_back(strides_of_load(problem_, load));
    std::vector<const Strides*> all;
    for (const Strides& each : steps) all.push_back(&each);
    const Batch batch = batch_of(problem_, form_.batch, all);

    std::vector<std::string> others;
    for (std::size_t i = 3; i < steps.size(); ++i) {
      request_.tensors["x" + std::to_string(i - 3)] = steps[i].tensor;
      others.push_back(tensor(steps[i], batch.strides[i], {{"m", form_.m}, {"n", form_.n}}, false));
    }
    request_.tensors["a"] = steps[1].tensor;
    request_.tensors["b"] = steps[2].tensor;
    request_.tensors["c"] = steps[0].tensor;
    JsonObject json;
    json.integer("capability", capability).integer("sms", sms);
    json.integer("m", problem_.extent(form_.m)).integer("n", problem_.extent(form_.n));
    json.integer("k", problem_.extent(form_.k)).integer("batches", batch.count);
    json.raw("a", tensor(steps[1], batch.strides[1], {{"m", form_.m}, {"k", form_.k}}, true));
    json.raw("b", tensor(steps[2], batch.strides[2], {{"n", form_.n}, {"k", form_.k}}, true));
    json.raw("c", tensor(steps[0], batch.strides[0], {{"m", form_.m}, {"n", form_.n}}, true));
    json.raw("others", runtime::json_array(others))
        .string("accumulator", element_name(accumulator));
    json.boolean("tf32", tf32)
        .raw("value", text_json(value))
        .raw("counts", counts ? text_json(*counts) : "null");
    request_.json = json.text();
    return std::move(request_);
  }

 private:
  // Returns whether both operands are multiplied as tf32. Throws NotInTriton if an operand is
  // converted in any other way: a tile is multiplied as it was loaded.
  bool multiplied_as_tf32() const {
    const bool tf32 = is_tf32(problem_, form_.a_value) && is_tf32(problem_, form_.b_value);
    const ElementType sum = kernel_.node(form_.contraction).type;
    for (const auto& [value, load] : {std::pair{form_.a_value, form_.a}, {form_.b_value, form_.b}})
      for (sema::NodeId at = value; at != load;
           at = std::get<sema::Apply>(kernel_.node(at).what).operands[0])
        if (const ElementType type = kernel_.node(at).type;
            type != sum && !(tf32 && type == ElementType::tf32))
          throw NotInTriton{"an operand is converted to " + std::string(element_name(type)) +
                            " first"};
    const ElementType a = kernel_.loaded(form_.a).element, b = kernel_.loaded(form_.b).element;
    if (a != b) throw NotInTriton{"its operands differ in type"};
    return tf32;
  }

  using Named = std::vector<std::pair<const char*, sema::IndexId>>;
  std::string tensor(const Strides& steps, std::int64_t batch, const Named& indices,
                     bool with_zeros) const {
    const Tensor& what = problem_.tensors[static_cast<std::size_t>(steps.tensor)];
    triton_type(what.element);
    JsonObject strides;
    for (const auto& [name, index] : indices)
      if (with_zeros || steps.of(index) != 0) strides.integer(name, steps.of(index));
    if (with_zeros || batch != 0) strides.integer("l", batch);
    return JsonObject()
        .string("type", element_name(what.element))
        .integer("elements", what.elements)
        .raw("strides", strides.text())
        .text();
  }

  const Problem& problem_;
  const plan::GemmForm& form_;
  TritonText text_;
  const sema::Kernel& kernel_;
  TritonRequest request_;
};

}  // namespace

std::variant<TritonRequest, NotInTriton> triton_request(const Problem& problem,
                                                        const plan::GemmForm& form, int capability,
                                                        int sms) {
  try {
    return Writer(problem, form).write(capability, sms);
  } catch (const NotInTriton& not_in_triton) {
    return not_in_triton;
  } catch (const NoStrides& none) {
    return NotInTriton{none.reason};
  }
}

}  // namespace lay::bench
