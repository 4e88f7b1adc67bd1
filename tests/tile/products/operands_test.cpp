// Products whose operands are more than two tensors at bare indices, with scales, windows and
// segments, as tile programs: goldens of tensor_cores.lay, texts that read back, rules that are
// broken once, and the programs run by plain loops against the reference, exactly, on small
// integers.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "backend/plan/schedule/fitting.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/tile/interpret.h"
#include "backend/tile/products/product.h"
#include "backend/tile/text/parse.h"
#include "backend/tile/text/print.h"
#include "backend/tile/verify.h"
#include "frontend/sema/kernel/kernel_call.h"
#include "tests/agreement/calls.h"
#include "tests/tile/calls.h"

namespace lay::test {

namespace {

using tile::For;
using tile::Mma;
using tile::Program;

std::vector<sema::KernelPtr> kernels_with_operands(const std::string& path) {
  return kernels_in(path, contents(source(path)));
}

sema::KernelPtr kernel_named(const std::string& name) {
  for (const auto& kernel : kernels_with_operands("tests/tile/products/tensor_cores.lay"))
    if (kernel->name == name) return kernel;
  FAIL("no kernel " + name);
  return nullptr;
}

// The unbound program of a variant on Hopper's tensor cores; nothing of another one.
std::optional<Program> formed(const plan::Variant& variant) {
  if (!plan::is_sm90(variant)) return std::nullopt;
  const auto& bound = variant.programs.front();
  return std::get<Program>(tile::form_product(bound.kernel, tile::product_of(bound)));
}

Program formed_variant(const plan::Variant& variant) {
  auto made = formed(variant);
  REQUIRE(made);
  return std::move(*made);
}

Program formed_first(const sema::KernelPtr& kernel) {
  const auto plan = plan::make_plan(kernel);
  return formed_variant(plan.variants.front());
}

Mma& product_in(tile::Block& block) {
  for (tile::Stmt& stmt : block) {
    if (auto* mma = std::get_if<Mma>(&stmt.node)) return *mma;
    if (auto* loop = std::get_if<For>(&stmt.node)) return product_in(loop->body);
  }
  throw std::logic_error("no product");
}

For& sums_in(tile::Block& block) {
  for (tile::Stmt& stmt : block)
    if (auto* loop = std::get_if<For>(&stmt.node))
      return loop->walk == tile::Walk::sequence ? *loop : sums_in(loop->body);
  throw std::logic_error("no loop over k");
}

// ---- calls

double small_integer(std::mt19937& random) {
  return static_cast<double>(random() % 7) - 3;
}

// A call whose rows are shared out among the segments: `expert` has them in any order.
sema::KernelCall drawn_segments(const sema::KernelPtr& kernel, const std::vector<int>& rows,
                                std::mt19937& random) {
  const std::int64_t all = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  const auto segments = static_cast<std::int64_t>(rows.size());
  auto call = drawn_call(kernel, {{"T", all}, {"E", segments}, {"N", 8}, {"K", 16}},
                         [&] { return small_integer(random); });
  for (std::size_t id = 0; id < kernel->tensors.size(); ++id) {
    std::vector<std::int64_t> values;
    if (kernel->tensors[id].name == "expert") {
      for (std::size_t e = 0; e < rows.size(); ++e)
        values.insert(values.end(), static_cast<std::size_t>(rows[e]), static_cast<int>(e));
      std::shuffle(values.begin(), values.end(), random);
    } else if (kernel->tensors[id].name == "start") {
      values = {0};
      for (const int count : rows) values.push_back(values.back() + count);
    }
    for (std::size_t i = 0; i < values.size(); ++i)
      call.tensors[id].set_integer(static_cast<std::int64_t>(i), values[i]);
  }
  return call;
}

using Arrays = std::map<std::string, std::pair<sema::Tensor, sema::Array>>;

// The tensors of a kernel from arrays of the same names, which may have other modes.
sema::KernelCall call_with(const sema::KernelPtr& kernel, const sema::KernelCall& of,
                           const Arrays& arrays) {
  sema::KernelCall call{kernel, of.sizes, {}, of.scalars, of.arithmetic};
  for (const sema::Tensor& tensor : kernel->tensors) {
    const auto shape = sema::array_shape(tensor, of.sizes);
    const auto found = arrays.find(tensor.name);
    if (found == arrays.end()) {
      call.tensors.push_back(sema::Array::make(tensor.element, shape));
      continue;
    }
    const auto& [from, array] = found->second;
    call.tensors.push_back(array.shape == shape ? array
                                                : sema::unpack(tensor, tensor.element, of.sizes,
                                                               sema::pack(from, of.sizes, array)));
  }
  return call;
}

// The call with what the launches before the variant's own one compute, as inputs behind its own.
sema::KernelCall after_launches(const plan::Variant& variant, const sema::KernelCall& call) {
  Arrays arrays;
  for (std::size_t id = 0; id < call.kernel->tensors.size(); ++id)
    arrays.emplace(call.kernel->tensors[id].name,
                   std::pair{call.kernel->tensors[id], call.tensors[id]});
  const std::set<std::string> given = [&] {
    std::set<std::string> names;
    for (const auto& [name, array] : arrays) names.insert(name);
    return names;
  }();
  for (const auto& before : variant.before) {
    const auto result = sema::run_reference(call_with(before->kernel, call, arrays));
    std::size_t output = 0;
    for (const sema::Tensor& tensor : before->kernel->tensors)
      if (tensor.access != sema::Access::input)
        arrays.insert_or_assign(tensor.name, std::pair{tensor, result.outputs.at(output++)});
  }
  auto kernel = std::make_shared<sema::Kernel>(*call.kernel);
  sema::KernelCall made = call;
  for (const auto& [name, of] : arrays) {
    if (given.contains(name)) continue;
    kernel->tensors.push_back(of.first);
    kernel->tensors.back().access = sema::Access::input;
    made.tensors.push_back(of.second);
  }
  made.kernel = kernel;
  return made;
}

// Runs each program of the variants that take the sizes once, and returns how many there were.
int check_programs(const plan::Plan& plan, const sema::KernelCall& call,
                   const std::function<bool(const Program&)>& wanted) {
  const auto expected = sema::run_reference(call);
  std::set<std::string> ran;
  for (const plan::Variant* variant : plan::fitting_variants(plan, call.sizes)) {
    const auto program = formed(*variant);
    if (!program || !wanted(*program)) continue;
    const std::string text = tile::print(*program);
    if (!ran.insert(text).second) continue;
    const auto given = after_launches(*variant, call);
    for (const tile::TileSizes sizes : {tile::TileSizes{1, 1, 1}, tile::TileSizes{3, 5, 7}}) {
      INFO(variant->name << ", tiles of " << sizes.rows << " rows\n" << text);
      const auto actual = tile::interpret(*program, given, sizes);
      REQUIRE(actual.outputs.size() == expected.outputs.size());
      for (std::size_t i = 0; i < actual.outputs.size(); ++i)
        CHECK(difference(actual.outputs[i], expected.outputs[i]) == "");
    }
  }
  return static_cast<int>(ran.size());
}

bool has_scales(const Program& program) {
  return tile::print(program).find(" in groups times ") != std::string::npos;
}
bool has_zeros(const Program& program) {
  return tile::print(program).find(" with zeros around") != std::string::npos;
}
void with_intervals(Program& program, int tile_k, int interval) {
  program.axes.back().tile = tile_k;
  product_in(program.body).interval = interval;
}
bool has_segments(const Program& program) {
  return program.axis(tile::row_axis).segments.has_value();
}

}  // namespace

TEST_CASE("golden tile programs of products with scales, windows and segments") {
  for (const auto& kernel : kernels_with_operands("tests/tile/products/tensor_cores.lay")) {
    const auto plan = plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    check_golden(tile::print(formed_variant(plan.variants.front())),
                 source("tests/tile/products/" + kernel->name + ".form"));
  }
}

TEST_CASE("every product on tensor cores is formed, and its text reads back") {
  int scales = 0, zeros = 0, segments = 0;
  std::set<std::string> seen;
  for (const char* script : {"scaled", "views", "grouped", "products"}) {
    for (const auto& kernel :
         kernels_with_operands("tests/agreement/products/" + std::string(script) + ".lay")) {
      const auto plan = plan::make_plan(kernel);
      for (const plan::Variant& variant : plan.variants) {
        INFO(kernel->name << " " << variant.name);
        const auto program = formed(variant);
        if (!program) continue;
        const std::string text = tile::print(*program);
        if (!seen.insert(text).second) continue;
        INFO(text);
        CHECK(tile::verify(*program).empty());
        const Program read = tile::parse(text, program->kernel);
        CHECK(read == *program);
        CHECK(tile::print(read) == text);
        CHECK(std::get<Program>(tile::form_product(program->kernel, tile::product_of(*program))) ==
              *program);
        scales += has_scales(*program);
        zeros += has_zeros(*program);
        segments += has_segments(*program);
      }
    }
  }
  CHECK(scales >= 8);
  CHECK(zeros >= 5);
  CHECK(segments >= 8);
}

TEST_CASE("programs with scales give what the reference gives") {
  int ran = 0;
  for (const auto& kernel : kernels_with_operands("tests/agreement/products/scaled.lay")) {
    const bool counts_elements = kernel->name == "ragged" || kernel->name == "repacked";
    for (const Extents& sizes : counts_elements ? std::vector<Extents>{{5, 3, 81}, {2, 4, 176}}
                                                : std::vector<Extents>{{5, 1, 3}}) {
      INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
      ran += check_programs(plan::make_plan(kernel), integer_call(kernel, sizes), has_scales);
    }
  }
  CHECK(ran >= 8);
}

TEST_CASE("intervals shorter and longer than a tile of k give what the reference gives") {
  const auto kernel = kernel_named("scaled");
  const auto call = integer_call(kernel, {3, 1, 2});
  const auto expected = sema::run_reference(call);
  for (const int parts : {1, 2})
    for (const auto& [tile_k, interval] : {std::pair{64, 32}, {64, 64}, {64, 128}, {128, 128}}) {
      Program program = formed_first(kernel);
      with_intervals(program, tile_k, interval);
      sums_in(program.body).parts = parts;
      const std::string text = tile::print(program);
      INFO(text);
      CHECK(text.find(" in intervals of " + std::to_string(interval) + " times ") !=
            std::string::npos);
      CHECK(tile::parse(text, program.kernel) == program);
      const auto actual = tile::interpret(program, call, {2, 64, 1});
      CHECK(difference(actual.outputs.at(0), expected.outputs.at(0)) == "");
    }
  // An interval that reaches over a group multiplies some of its sums by another one's scale.
  Program wrong = formed_first(kernel);
  with_intervals(wrong, 128, 256);
  const auto actual = tile::interpret(wrong, call, {2, 64, 1});
  CHECK(difference(actual.outputs.at(0), expected.outputs.at(0)) != "");
}

TEST_CASE("programs with windows give what the reference gives") {
  int ran = 0;
  for (const auto& kernel : kernels_with_operands("tests/agreement/products/views.lay"))
    for (const Extents& sizes : {Extents{5, 8, 2}, Extents{3, 16, 1}}) {
      INFO(kernel->name << " " << sizes.m << ", " << sizes.n);
      ran += check_programs(plan::make_plan(kernel), integer_call(kernel, sizes), has_zeros);
    }
  CHECK(ran >= 8);
}

TEST_CASE("programs with rows in segments give what the reference gives") {
  std::mt19937 random(7);
  int ran = 0, sorted = 0;
  for (const auto& kernel : kernels_with_operands("tests/agreement/products/grouped.lay"))
    for (const std::vector<int>& rows :
         {std::vector{3, 0, 5, 1}, std::vector{0, 0, 4}, std::vector{1}, std::vector{2, 7, 0}}) {
      INFO(kernel->name << " " << rows.size() << " segments");
      const auto plan = plan::make_plan(kernel);
      ran += check_programs(plan, drawn_segments(kernel, rows, random), has_segments);
      Program program = formed_variant(plan.variants.front());
      // Whatever order of tiles a layout says, all tiles of all segments are walked.
      program.grid = tile::Grid{Layout(1, 0), 128};
      const auto call = drawn_segments(kernel, rows, random);
      const auto actual =
          tile::interpret(program, after_launches(plan.variants.front(), call), {3, 5, 7});
      CHECK(difference(actual.outputs.at(0), sema::run_reference(call).outputs.at(0)) == "");
      sorted += program.axis(tile::row_axis).segments->stored_at >= 0;
    }
  CHECK(ran >= 30);
  CHECK(sorted >= 8);
}

TEST_CASE("each rule of scales and segments is broken once") {
  const struct {
    const char* kernel;
    const char* code;
    const char* what;
    std::function<void(Program&)> breaks;
  } rows[] = {
      {"scaled", "interval", "bound before the program is",
       [](Program& p) { product_in(p.body).interval = 128; }},
      {"grouped", "segments", "is not that of the rows",
       [](Program& p) { std::swap(p.axes[0].segments, p.axes[1].segments); }},
      {"grouped", "segments", "no tensor gives",
       [](Program& p) { p.axes[0].segments->of = p.tile(product_in(p.body).a).value; }},
      {"grouped", "tile-axes", "which its axes do not walk",
       [](Program& p) { p.axes[0].segments.reset(); }},
      {"grouped", "id", "a tensor of the segments",
       [](Program& p) { p.axes[0].segments->first = 99; }},
      {"window", "copy-value", "hold other values",
       [](Program& p) {
         // Zeros around another tensor.
         const Mma mma = product_in(p.body);
         std::swap(p.tiles[static_cast<std::size_t>(mma.a)].value,
                   p.tiles[static_cast<std::size_t>(mma.b)].value);
       }},
  };
  for (const auto& row : rows) {
    Program program = formed_first(kernel_named(row.kernel));
    CHECK(tile::verify(program).empty());
    row.breaks(program);
    const auto problems = tile::verify(program);
    INFO(row.kernel << " " << row.code << ": " << row.what);
    CHECK(std::ranges::any_of(problems, [&](const tile::Problem& each) {
      return each.code == row.code && each.message.find(row.what) != std::string::npos;
    }));
  }
}

TEST_CASE("an interval of scales lies in one group") {
  Program program = formed_first(kernel_named("scaled"));
  program.axes.back().tile = 64;
  const auto has = [&](int interval, const std::string& what) {
    product_in(program.body).interval = interval;
    return std::ranges::any_of(tile::verify(program), [&](const tile::Problem& each) {
      return each.code == "interval" && each.message.find(what) != std::string::npos;
    });
  };
  CHECK(has(0, "have no intervals"));
  CHECK(has(256, "reach over groups of 128"));
  CHECK(has(48, "neither parts nor multiples"));
  for (const int fits : {32, 64, 128}) CHECK_FALSE(has(fits, ""));
}

}  // namespace lay::test
