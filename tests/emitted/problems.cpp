// The emitter's refusals, as data; and the CUDA compiler's messages, led back to the script.
#include <catch2/catch.hpp>

#include "backend/cuda/emit.h"
#include "backend/ir/text/parse.h"
#include "runtime/compile/compile.h"
#include "runtime/compile/nvcc.h"
#include "tests/runtime/temporary.h"

namespace {

using lay::cuda::Emitted;
using lay::cuda::Problem;

lay::cuda::EmitResult emit(const std::string& body, const std::string& declarations = "") {
  return lay::cuda::emit(
      lay::ir::parse(
          "kernel k from \"k.lay\" {\n size M\n global Y : f32 M:1 write align 4\n" + declarations +
          "launch grid (1,1,1) cluster (1,1,1) threads 128\n role all threads 0..128 {\n" + body +
          "\n}\n}\n"),
      *lay::find_target("sm_90a"));
}

Problem problem(const lay::cuda::EmitResult& result) {
  REQUIRE(std::holds_alternative<Problem>(result));
  return std::get<Problem>(result);
}

}  // namespace

TEST_CASE("what cannot be emitted yet is a problem with the script's line") {
  const Problem found = problem(
      emit("Y[0] = 1.0 @3\ncopy cp_async s[0] <- Y[0] count 3 then group atom \"async12\" @7",
           "shared s : f32 4:1 align 16\n"
           "copy_atom \"async12\" thread global (1,96):(0,1) to shared (1,96):(0,1)\n"));
  CHECK(found.code == "unsupported");
  CHECK(found.line == 7);
}

TEST_CASE("the accumulators of wgmma are held wherever the product stands") {
  const std::string product = "mma wgmma acc[] += a[0,0] * b[0,0] atom \"m64n8k16\"\n";
  for (const std::string& around :
       {std::string(), std::string("for k : s32 grid in 0..4 {\n"), std::string("if M < 4 {\n"),
        std::string("if M < 4 {\n} else {\n"), std::string("elect {\n")}) {
    INFO(around);
    const auto made = emit(
        "fence wgmma\n" + around + product + (around.empty() ? "" : "}\n"),
        "shared a : bf16 Sw<3,3,3> o 0 o (64,64):(64,1) align 1024\n"
        "shared b : bf16 Sw<3,3,3> o 0 o (8,64):(64,1) align 1024\n"
        "register acc : f32 (4,):(1,)\nmma_atom \"m64n8k16\" shape (64,8,16) d "
        "((4,8,4),(2,2)):((128,1,16),(64,8)) ptx "
        "\"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 $d, $a, $b, $scale, 1, 1, 0, 0\"\n");
    const auto* emitted = std::get_if<Emitted>(&made);
    REQUIRE(emitted);
    CHECK(emitted->text.find("asm volatile(\"\" : \"+f\"(acc_[i])") != std::string::npos);
  }
}

TEST_CASE("an atom is emitted by its instruction, on operands that a descriptor can say") {
  const auto multiply = [](const std::string& layout, const std::string& instruction) {
    return emit("mma wgmma acc[] += a[0,0] * b[0,0] atom \"m64n8k16\" @7",
                "shared a : bf16 " + layout +
                    " align 1024\nshared b : bf16 Sw<3,3,3> o 0 o (8,64):(64,1) align 1024\n" +
                    "register acc : f32 (4,):(1,)\nmma_atom \"m64n8k16\" shape (64,8,16) d " +
                    "((4,8,4),(2,2)):((128,1,16),(64,8))" + instruction + "\n");
  };
  const std::string swizzled = "Sw<3,3,3> o 0 o (64,64):(64,1)";
  const std::string right =
      " ptx \"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 $d, $a, $b, $scale, 1, 1, 0, 0\"";
  const auto made = multiply(swizzled, right);
  const auto* emitted = std::get_if<Emitted>(&made);
  REQUIRE(emitted);
  for (const char* line : {"const unsigned a_start_ = kept(matrix_start(a_, 16));",
                           "multiply_1(&acc_[0], matrix_descriptor(a_start_, 1024, 1), "
                           "matrix_descriptor(b_start_, 1024, 1), 1);"}) {
    CHECK(emitted->text.find(line) != std::string::npos);
  }
  // Which way an operand lies is read off its layout, where the instruction takes both.
  const auto across = multiply(
      "Sw<3,3,3> o 0 o (64,64):(1,64)",
      " ptx \"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 $d, $a, $b, $scale, 1, 1, "
      "$trans_a, $trans_b\"");
  REQUIRE(std::holds_alternative<Emitted>(across));
  CHECK(std::get<Emitted>(across).text.find("p, 1, 1, 1, 0;") != std::string::npos);
  for (const char* layout :
       {"(64,64):(64,1)", "Sw<3,3,3> o 0 o (64,64):(1,64)", "Sw<3,3,3> o 0 o (64,64):(72,1)",
        "Sw<3,4,3> o 0 o (64,64):(64,1)", "Sw<3,3,3> o 8 o (64,64):(64,1)"}) {
    INFO(layout);
    const Problem found = problem(multiply(layout, right));
    CHECK(found.line == 7);
    CHECK(found.message.find("as operand of wgmma") != std::string::npos);
  }
  for (const char* instruction : {"", " ptx \"\"", " ptx \"wgmma }; { trap; }\"", " ptx \"%0\""}) {
    INFO(instruction);
    CHECK(problem(multiply(swizzled, instruction)).message.find("no PTX instruction") !=
          std::string::npos);
  }
}

TEST_CASE("an atom of several instructions has nothing in braces but registers") {
  const auto multiply = [](const std::string& instruction) {
    return emit("mma mma_sync acc[] += a[] * b[] atom \"pair\" @7",
                "register a : bf16 8:1\nregister b : bf16 4:1\nregister acc : f32 4:1\n"
                "mma_atom \"pair\" shape (16,8,16) d ((4,8),(2,2)):((32,1),(16,8)) a "
                "((4,8),(2,2,2)):((32,1),(16,8,128)) b ((4,8),(2,2)):((16,1),(8,64)) ptx \"" +
                    instruction + "\"\n");
  };
  const auto made = multiply("mul $d, {$a0, $a1}, {$b0}, $d; mul $d, {$a2, $a3}, {$b1}, $d");
  REQUIRE(std::holds_alternative<Emitted>(made));
  CHECK(std::get<Emitted>(made).text.find("mul {%0, %1, %2, %3}, {%4, %5}, {%8}, {%0, %1, %2, %3}; "
                                          "mul {%0, %1, %2, %3}, {%6, %7}, {%9}, ") !=
        std::string::npos);
  for (const char* instruction :
       {"mul }; { trap; }", "mul $d, {$a0; trap}, $b, $d", "mul {", "mul }", "mul {{$a0}}"}) {
    INFO(instruction);
    CHECK(problem(multiply(instruction)).message.find("no PTX instruction") != std::string::npos);
  }
}

TEST_CASE("shared memory beyond the target's is refused with both numbers") {
  const Problem found = problem(emit("Y[0] = 1.0", "shared s : f32 58113:1 align 4\n"));
  CHECK(found.code == "shared-memory");
  CHECK(found.message.find("232452") != std::string::npos);
  CHECK(found.message.find("232448") != std::string::npos);
  CHECK(std::get<Emitted>(emit("Y[0] = 1.0", "shared s : f32 58112:1 align 4\n")).dynamic_bytes ==
        232448);
  CHECK(std::get<Emitted>(emit("Y[0] = 1.0", "shared s : f32 12288:1 align 4\n")).dynamic_bytes ==
        0);
}

TEST_CASE("what a target has no instructions for is refused") {
  const auto kernel = lay::ir::parse(
      "kernel k from \"k.lay\" {\n global Y : e4m3 1:1 write align 1\n launch grid (1,1,1) cluster "
      "(1,1,1) threads "
      "32\n "
      "role all threads 0..32 {\n Y[0] = e4m3(1.5)\n}\n}\n");
  CHECK(problem(lay::cuda::emit(kernel, *lay::find_target("sm_86"))).code == "unsupported");
  CHECK(std::holds_alternative<Emitted>(lay::cuda::emit(kernel, *lay::find_target("sm_89"))));
}

TEST_CASE("loops are not unrolled without end") {
  const std::string inner = "for j : s32 block in 0..256 unrolled {\n Y[0] = 1.0 @4\n}\n}";
  CHECK(std::holds_alternative<Emitted>(emit("for i : s32 block in 0..256 unrolled {\n" + inner)));
  const Problem found = problem(emit("for i : s32 block in 0..257 unrolled {\n" + inner));
  CHECK(found.code == "unroll-limit");
  CHECK(problem(emit("fill r = 0.0", "register r : f32 65537:1\n")).code == "unroll-limit");
}

TEST_CASE("an expression too long to write is refused") {
  std::string body = "let x0 : s32 thread = thread + 1\n";
  lay::ir::Kernel kernel = lay::ir::parse(
      "kernel k from \"k.lay\" {\n global Y : s32 1:1 write align 4\n launch grid (1,1,1) cluster "
      "(1,1,1) threads 32\n "
      "role "
      "all threads 0..32 {\n Y[0] = thread * thread\n}\n}\n");
  // Doubled sixty times over, the shared expression would be written out 2^60 times.
  auto& assign = std::get<lay::ir::Assign>(kernel.roles[0].body[0].node);
  for (int i = 0; i < 60; ++i) {
    kernel.exprs.push_back({lay::ir::Apply{lay::ElementFunction::add, {assign.value, assign.value}},
                            lay::ElementType::s32});
    assign.value = {static_cast<int>(kernel.exprs.size()) - 1};
  }
  CHECK(problem(lay::cuda::emit(kernel, *lay::find_target("sm_90a"))).code == "text-limit");
  // A chain of a million operands is no deeper a recursion than one.
  assign.value = {0};
  for (int i = 0; i < 1000000; ++i) {
    kernel.exprs.push_back(
        {lay::ir::Apply{lay::ElementFunction::neg, {assign.value}}, lay::ElementType::s32});
    assign.value = {static_cast<int>(kernel.exprs.size()) - 1};
  }
  CHECK(problem(lay::cuda::emit(kernel, *lay::find_target("sm_90a"))).code == "text-limit");
}

TEST_CASE("messages of the compiler are led back to the script") {
  const std::vector<int> lines = {0, 0, 3, 3, 0, 5};
  const auto found = lay::runtime::messages_in(
      "k.cu(4): error: identifier \"x\" is undefined\n      x_ = 1;\n      ^\n\n"
      "k.cu(6): warning #177-D: variable \"y\" was declared but never referenced\n\n"
      "/tmp/a (1)/kernel.cu(5): error: expected a \";\"\n"
      "ptxas error   : Entry function 'k' uses too much shared data (0x10000 bytes, 0xc000 max)\n"
      "1 error detected in the compilation of \"k.cu\".\n",
      lines);
  REQUIRE(found.size() == 4);
  CHECK(found[0].is_error);
  CHECK(found[0].text == "identifier \"x\" is undefined");
  CHECK(found[0].text_line == 4);
  CHECK(found[0].script_line == 3);
  CHECK(!found[1].is_error);
  CHECK(found[1].script_line == 5);
  CHECK(found[2].text_line == 5);
  CHECK(found[2].script_line == 3);  // line 5 stands for nothing: the last one before it that does
  CHECK(found[3].is_error);
  CHECK(found[3].script_line == 0);
}

TEST_CASE("an error in emitted text names the line of the script") {
  if (std::string why; !lay::runtime::can_compile(&why)) {
    WARN("skipped: " << why);
    return;
  }
  auto emitted = std::get<Emitted>(emit("Y[0] = 1.0 @3\nY[1] = 2.0 @4\nY[2] = 3.0 @5"));
  const auto at = emitted.text.find("2.0f");
  REQUIRE(at != std::string::npos);
  emitted.text.replace(at, 4, "two ");
  const auto made = lay::runtime::compile(emitted, *lay::find_target("sm_90a"));
  CHECK(!made.ok());
  REQUIRE(!made.messages.empty());
  CHECK(made.messages[0].script_line == 4);
}

TEST_CASE("a kernel is compiled once: then it comes from the cache") {
  if (std::string why; !lay::runtime::can_compile(&why)) {
    WARN("skipped: " << why);
    return;
  }
  const lay::test::TemporaryFolder folder;
  const lay::runtime::Cache cache(folder.path());
  lay::runtime::CompileOptions options;
  options.cache = &cache;
  const auto emitted = std::get<Emitted>(emit("Y[0] = 1.0"));
  const auto& target = *lay::find_target("sm_90a");
  const auto first = lay::runtime::compile(emitted, target, options),
             second = lay::runtime::compile(emitted, target, options);
  CHECK(!first.from_cache);
  CHECK(second.from_cache);
  CHECK(second.image == first.image);
  CHECK(second.resources.registers == first.resources.registers);
  // Another target, another kind of image and another text are other entries.
  CHECK(!lay::runtime::compile(emitted, *lay::find_target("sm_80"), options).from_cache);
  options.kind = lay::runtime::ImageKind::ptx;
  const auto ptx = lay::runtime::compile(emitted, target, options);
  CHECK(!ptx.from_cache);
  CHECK(ptx.image.find(".visible .entry lay_k") != std::string::npos);
  CHECK(!lay::runtime::compile(std::get<Emitted>(emit("Y[0] = 2.0")), target, options).from_cache);
}

TEST_CASE("nvcc compiles what NVRTC does") {
  if (lay::runtime::nvcc_path().empty()) {
    WARN("skipped: there is no nvcc");
    return;
  }
  const auto emitted = std::get<Emitted>(emit("Y[0] = 1.0"));
  const auto made = lay::runtime::nvcc_compile(emitted.text, "sm_90a",
                                               lay::runtime::ImageKind::cubin, {"-Xptxas=-v"});
  INFO(made.log);
  CHECK(made.image.substr(1, 3) == "ELF");
  CHECK(lay::runtime::resources_in(made.log).registers > 0);
  const auto wrong =
      lay::runtime::nvcc_compile("int x = y;\n", "sm_90a", lay::runtime::ImageKind::cubin, {});
  CHECK(wrong.image.empty());
  CHECK(lay::runtime::messages_in(wrong.log, {7}).at(0).script_line == 7);
}
