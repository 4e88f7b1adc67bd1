// Programs of one thread an element (each_element.lay): the reference, the tile interpreter and the
// interpreter of threads agree, texts read back, and rules are broken once.
#include "backend/tile/elementwise/each_element.h"

#include <functional>

#include "backend/tile/elementwise/elementwise.h"
#include "backend/tile/interpret.h"
#include "backend/tile/text/parse.h"
#include "backend/tile/text/print.h"
#include "backend/tile/verify.h"
#include "tests/plan/script_calls.h"
#include "tests/tile/calls.h"
#include "tests/tile/rounding.h"

namespace lay::test {

namespace {

using tile::Program;

// The kernels are called at sizes of which 256 is no divisor, and at one.
std::string script() {
  return contents(source("tests/tile/elementwise/each_element.lay")) + R"(
let p = random(s32, (29,23), 1, 0, 23)
gathered(random(f32, (23,3), 2), p)
gathered(random(f32, (1,1), 2), random(s32, (1,1), 1, 0, 1))
sums(random(f32, (37,11), 3))
three(random(s32, (7,9,13), 4, -9, 9), 5)
in_place(random(f32, 300, 5), random(f32, 300, 6), random(f32, 300, 7))
)";
}

const sema::KernelPtr& kernel_named(const std::vector<sema::KernelPtr>& kernels,
                                    const std::string& name) {
  for (const sema::KernelPtr& each : kernels)
    if (each->name == name) return each;
  throw std::logic_error("no kernel " + name);
}

std::vector<Program> programs_of(const std::string& name) {
  return tile::bind_each_element(
      kernel_named(kernels_of(source("tests/tile/elementwise/each_element.lay")), name));
}

}  // namespace

TEST_CASE("one thread an element: reference, tiles and threads agree") {
  int calls = 0;
  const std::string messages = for_each_call(script(), [&](const sema::KernelCall& call) {
    INFO(call.kernel->name);
    const auto expected = sema::run_reference(call);
    const auto actual = tile::interpret(tile::bind_each_element(call.kernel), call);
    REQUIRE(actual.outputs.size() == expected.outputs.size());
    for (std::size_t i = 0; i < actual.outputs.size(); ++i)
      CHECK(difference(actual.outputs[i], expected.outputs[i], terms_of(call)) == "");
    plan::Plan plan{call.kernel, {}, {}};
    plan.variants.emplace_back().name = "scalar";
    plan.variants.back().programs = tile::bind_each_element(call.kernel);
    const auto threads = outputs(plan, plan.variants.back(), call);
    REQUIRE(threads.size() == expected.outputs.size());
    for (std::size_t i = 0; i < threads.size(); ++i)
      CHECK(difference(threads[i], expected.outputs[i], terms_of(call)) == "");
    ++calls;
  });
  CHECK(messages == "");
  CHECK(calls == 5);
}

TEST_CASE("one thread an element: outputs over the same indices share a program") {
  const auto groups = [](const std::string& name) {
    std::vector<std::size_t> outputs;
    for (const Program& each : programs_of(name))
      outputs.push_back(each.kernel->assignments.size());
    return outputs;
  };
  CHECK(groups("gathered") == std::vector<std::size_t>{2});
  CHECK(groups("sums") == std::vector<std::size_t>{1, 1, 1});
  CHECK(groups("in_place") == std::vector<std::size_t>{2});
  // Neighbouring threads have neighbours in memory: of (C,A,B) with strides (1,B*C,C) along c.
  const Program three = programs_of("three").front();
  std::string names;
  for (const sema::IndexId index : three.axes.front().indices)
    names += three.kernel->index(index).name;
  CHECK(names == "abc");
}

TEST_CASE("one thread an element: programs read back as they were and keep the rules") {
  for (const std::string name : {"gathered", "sums", "three", "in_place"}) {
    for (const Program& program : programs_of(name)) {
      CHECK(tile::is_of_each_element(program));
      for (const Program& one : {program, tile::formed_of(program)}) {
        const std::string text = tile::print(one);
        INFO(text);
        CHECK(tile::verify(one).empty());
        CHECK(tile::parse(text, one.kernel) == one);
      }
    }
  }
}

TEST_CASE("one thread an element: each rule is broken once") {
  const struct {
    const char *code, *message;
    std::function<void(Program&)> change;
  } rows[] = {
      {"threads", "have values along an axis of several indices",
       [](Program& p) { p.threads->along = 0; }},
      {"threads", "values side by side along an axis",
       [](Program& p) {
         p.threads->layout = Layout(tuple(128, tuple(1, 2)),
                                    tuple(Tuple::basis(1, {0}), tuple(0, Tuple::basis(128, {0}))));
       }},
      {"grid", "there are blocks or threads alone", [](Program& p) { p.grid.reset(); }},
      {"axis-extent", "the axis `element` has the extent",
       [](Program& p) { p.axes.front().indices.pop_back(); }},
      {"read", "is read ahead by threads that have no values along an axis",
       [](Program& p) {
         auto* loop = std::get_if<tile::For>(&p.body.front().node);
         const sema::Kernel& kernel = *p.kernel;
         sema::NodeId load = 0;
         while (!std::holds_alternative<sema::Load>(kernel.node(load).what)) ++load;
         const ElementType element = kernel.loaded(load).element;
         const auto at = static_cast<tile::TileId>(p.tiles.size());
         p.tiles.push_back({"X_memory", element, {0}, tile::Space::global, load});
         p.tiles.push_back({"X_ahead", element, {0}, tile::Space::registers, load});
         loop->body.insert(loop->body.begin(), {tile::Copy{at + 1, at}});
       }},
  };
  for (const auto& row : rows) {
    Program program = programs_of("three").front();
    REQUIRE(tile::verify(program).empty());
    row.change(program);
    INFO(row.code << ": " << row.message);
    bool found = false;
    for (const tile::Problem& problem : tile::verify(program)) {
      UNSCOPED_INFO(problem.code << ": " << problem.message);
      found = found ||
              (problem.code == row.code && problem.message.find(row.message) != std::string::npos);
    }
    CHECK(found);
  }
}

}  // namespace lay::test
