// Every error of the verifier, each planted into a kernel that is right without it.
#include "backend/ir/verify/verify.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

#include "backend/ir/build.h"
#include "backend/ir/text/parse.h"

namespace {

using namespace lay;
using namespace lay::ir;

const std::string kRight = R"(kernel right from "right.lay" {
  size M, N
  scalar alpha : f32
  assume N % 4 == 0
  global X : f32 (M,N):(N,1) read align 16
  global Y : f32 (M,N):(N,1) write align 16
  global H : f16 (M,N):(8*N,1) read write align 16
  shared s : f32 (32,(4,8)):(32,(1,4)) align 16
  shared h : f16 Sw<3,3,3> o 0 o (8,64):(64,1) align 1024
  register a : f32 4:1
  register b : f32 4:1
  register d : f32 (4,4):(1,4)
  register q : f16 8:1
  tensor_map h_map of H order (1,0) box (64,8) swizzle Sw<3,4,3>
  copy_atom "box" thread global (1,8192):(0,1) to shared (1,8192):(0,1) box 2 align 128 pitch 16 swizzles (128,16)
  copy_atom "async16" thread global (1,128):(0,1) to shared (1,128):(0,1)
  copy_atom "x4" warp shared (32,128):(128,1) to register (32,(32,4)):(32,(1,1024))
  barrier all block
  barrier some named count 64 id 1
  barrier full mbarrier slots 2 count 1
  barrier both cluster
  ring r stages 2
  launch grid (M,1,1) cluster (1,1,1) threads 256
  role one threads 0..128 registers 40 {
    let i : s32 thread = thread % 8 * 4
    if warp < 2 {
      sync some
    }
    if i < N {
      copy a[0] <- X[block_x,i] count 4 along 0, 1 when i < N else zero  @7
      copy s[0,i] <- a[0] count 4 along 1, 0
    }
    fill d = 0.0
    copy b[0] <- s[0,i] count 4 along 0, 1
    mma simt d[] += a[] * b[]
    for k : s32 grid in 0..4 unrolled {
      let v : f32 thread = d[k,k] * alpha
      Y[block_x,k] = v
    }
    copy warp q[0] <- h[lane % 8,0] count 8 along 0, 1 atom "x4"
    elect {
      copy tma_load h[0,0] <- H[block_x,0] then mbarrier full[slot(r)] map h_map atom "box"
      arrive_expect_bytes full[1] bytes 1024
    }
    copy cp_async s[0,i] <- X[block_x,i] count 4 along 1, 1 then group atom "async16"
    copy st_async s[0,i] <- b[0] count 4 along 1, 0 then mbarrier full[0] remote lane % 2
    wait full[slot(r)] phase phase(r)
    if warp < 2 {
      shuffle from_far : f32 thread = b[0] from lane xor 16
    }
    commit cp_async
    wait_group cp_async pending 0
    advance r
    tiles t : s32 block first block_x count 8 stride 1 {
      sync both
    }
  }
  role two threads 128..256 registers 232 {
    fence wgmma
  }
  epilogue {
    sync all
  }
}
)";

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kRight;
  const size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("no `" + from + "` to change");
  return text.replace(at, from.size(), to);
}

std::vector<Problem> problems(const std::string& text) {
  return verify(parse(text));
}

// Exactly this problem, and a message that says this.
void require_problem(const std::string& from, const std::string& to, const std::string& code,
                     const std::string& words) {
  const std::vector<Problem> found = problems(changed(from, to));
  INFO(from + " -> " + to);
  REQUIRE(!found.empty());
  INFO(found[0].code + ": " + found[0].message + "\n" + found[0].statement);
  REQUIRE(found[0].code == code);
  REQUIRE(found[0].message.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("a copy of a box is by an atom of such boxes") {
  const std::string copy = "map h_map atom \"box\"";
  require_problem(copy, "map h_map", "copy", "expected the atom of this copy, got none");
  require_problem(copy, "map h_map atom \"async16\"", "copy-box", "expected neighbouring bytes");
  require_problem(copy, "map h_map multicast 3 atom \"box\"", "copy",
                  "copies by a thread from global to shared, and this copy is by a cluster");
  require_problem("box 2 align", "box 3 align", "copy-box",
                  "expected a tensor of 3 modes for \"box\", got `H` of 2");
  require_problem("box 2 align", "box 6 align", "atom", "copies boxes of 6 modes");
  require_problem("box (64,8)", "box (64,4)", "copy-box",
                  "expected a box of 1024 bytes for \"box\", got 512");
  require_problem("swizzles (128,16)", "swizzles (64,16)", "copy-box",
                  "expected one of its swizzle widths for \"box\", got 128 bytes");
  require_problem("align 128 pitch", "align 2048 pitch", "copy-alignment",
                  "expected `h` aligned to 2048 bytes, got 1024");
  require_problem("pitch 16", "pitch 256", "copy-box",
                  "expected strides of whole 256 bytes for \"box\", got 8*N");
  // Its bits are in the order of the tensor's memory, and all of them.
  require_problem("(1,8192):(0,1) box", "(1,8192):(0,2) box", "atom", "copies boxes, and not from");
  require_problem("thread global (1,8192)", "thread global (2,8192)", "atom",
                  "is copied by one thread");
  require_problem("\"async16\" thread", "\"async16\" cluster", "atom", "and is no box");
  require_problem("swizzles (128,16)", "swizzles (128,16) ptx \"[$to] {$offsets}\"", "copy-box",
                  "expected a box of pixels for \"box\", got `h_map`");
}

TEST_CASE("a kernel that is right has no problems") {
  for (const Problem& p : problems(kRight)) FAIL(p.code + ": " + p.message + " in " + p.statement);
}

TEST_CASE("variables: in scope, bound once, of their type, no more uniform than they are") {
  require_problem("let i : s32 thread =", "let i : s32 warp =", "uniformity",
                  "declared warp-uniform and is thread");
  require_problem("let v : f32 thread =", "let v : f64 thread =", "type",
                  "declared f64 and is f32");
  require_problem("for k : s32 grid in 0..4", "for k : s32 grid in 0..thread", "loop-unrolled",
                  "constant bounds");
  require_problem("      let v : f32", "      let i : s32 thread = 1\n      let v : f32",
                  "variable-name", "in scope");
  require_problem("tiles t : s32 block first block_x", "tiles t : s32 block first warp",
                  "uniformity", "`t` is declared block-uniform");
  Kernel kernel = parse(kRight);
  Block& body = kernel.roles[0].body;
  kernel.roles[1].body.push_back(body[0]);
  REQUIRE(verify(kernel)[0].code == "variable-bound-twice");
  kernel = parse(kRight);
  kernel.roles[0].body.erase(kernel.roles[0].body.begin());
  REQUIRE(verify(kernel)[0].code == "variable-scope");
}

TEST_CASE("expressions: operands first, types, literals that fit, shared parts of bounded size") {
  Kernel kernel = parse(kRight);
  kernel.exprs.push_back(
      {Apply{ElementFunction::neg, {ExprId{static_cast<int>(kernel.exprs.size()) + 3}}},
       ElementType::s32});
  REQUIRE(verify(kernel)[0].code == "expression-order");
  kernel = parse(kRight);
  kernel.exprs.push_back({Constant{std::int64_t{300}}, ElementType::s8});
  REQUIRE(verify(kernel)[0].code == "expression-type");
  kernel = parse(kRight);
  kernel.exprs.push_back({Special{Builtin::lane}, ElementType::f32});
  REQUIRE(verify(kernel)[0].code == "expression-type");
  kernel = parse(kRight);
  kernel.exprs.push_back({VarRef{VarId{1000}}, ElementType::s32});
  REQUIRE(verify(kernel)[0].code == "id");
  kernel = parse(kRight);
  kernel.exprs.push_back({Size{Int::dim("stranger")}, ElementType::s32});
  REQUIRE(verify(kernel)[0].code == "size");
  kernel = parse(kRight);
  Builder b(kernel);
  ir::Term x = b.special(Builtin::lane);
  for (int i = 0; i < 40; ++i) x = x * x;
  REQUIRE(verify(kernel)[0].code == "expression-size");
  kernel = parse(kRight);
  Builder deep(kernel);
  ir::Term sum = deep.special(Builtin::lane);
  for (int i = 0; i < 100'000; ++i) sum = sum + deep.special(Builtin::thread);
  REQUIRE(verify(kernel)[0].code == "expression-size");
}

TEST_CASE("names: identifiers, all different") {
  Kernel kernel = parse(kRight);
  kernel.buffers[0].name = "X;system(\"rm\")";
  REQUIRE(verify(kernel)[0].code == "name");
  kernel = parse(kRight);
  kernel.buffers[0].name = "Y";
  REQUIRE(verify(kernel)[0].code == "name");
  kernel = parse(kRight);
  kernel.vars[0].name = "X";
  REQUIRE(verify(kernel)[0].code == "name");
}

TEST_CASE("accesses: rank, declared direction, static registers") {
  require_problem("Y[block_x,k] = v", "Y[block_x] = v", "coordinate-rank",
                  "takes 2 coordinates here, not 1");
  require_problem("Y[block_x,k] = v", "X[block_x,k] = v", "access", "without `write`");
  require_problem("d[k,k] * alpha", "Y[k,k] * alpha", "access", "without `read`");
  require_problem("d[k,k] * alpha", "d[k,i] * alpha", "register-index", "indexed by `i`");
  require_problem("Y[block_x,k] = v", "H[block_x,k] = v", "type", "is f32, not f16");
  require_problem("0..4 unrolled", "0..4", "register-index", "indexed by `k`");
  require_problem("d[k,k] * alpha", "d[k,4] * alpha", "coordinate-range",
                  "coordinate 4 of mode 1 of `d` is outside 0..4");
  require_problem("copy a[0] <- X", "copy a[-1] <- X", "coordinate-range", "coordinate -1");
  require_problem("fill d = 0.0", "fill s = 0.0", "space", "not in registers");
  require_problem("for k : s32 grid in 0..4 unrolled", "for k : s32 thread in i..s32(X[0,0])",
                  "loop-read", "reads memory");
  require_problem("unrolled {", "step -1 unrolled {", "loop-step", "steps by -1");
}

TEST_CASE("vector copies: contiguous, aligned, of a length that the machine has") {
  require_problem("thread % 8 * 4", "thread % 8 * 2", "copy-alignment",
                  "aligned to 16 bytes, got 8");
  require_problem("assume N % 4 == 0", "assume N % 2 == 0", "copy-alignment",
                  "aligned to 16 bytes, got 8");
  require_problem("X : f32 (M,N):(N,1) read align 16", "X : f32 (M,N):(N,1) read align 4",
                  "copy-alignment", "aligned to 16 bytes, got 4");
  require_problem("count 4 along 0, 1 when", "count 4 when", "copy-run",
                  "not known to be contiguous");
  require_problem("(32,(4,8)):(32,(1,4))", "(32,(2,16)):(32,(1,32))", "copy-run",
                  "not known to be contiguous");
  require_problem("count 4 along 0, 1 when", "count 8 along 0, 1 when", "copy-length", "32 bytes");
  require_problem("count 4 along 0, 1 when", "count 4 along 0, 2 when", "copy-run",
                  "has no mode 2");
  require_problem("when i < N else zero", "else zero", "copy", "there is none");
  require_problem("copy b[0] <- s[0,i] count 4 along 0, 1", "copy q[0] <- s[0,i]", "copy",
                  "does not convert");
  require_problem("count 4 along 1, 1 then group", "count 8 along 1, 1 then group", "copy-length",
                  "got 32");
}

TEST_CASE("tensor maps and what uses them") {
  require_problem("box (64,8)", "box (512,8)", "tensor-map", "1 to 256 elements");
  require_problem("box (64,8)", "box (4,8)", "tensor-map", "no multiple of 16");
  require_problem("box (64,8)", "box (128,8)", "tensor-map", "more than the 128 of its swizzle");
  require_problem("swizzle Sw<3,4,3>", "swizzle Sw<3,3,3>", "tensor-map", "is no swizzle of TMA");
  require_problem("order (1,0)", "order (0,1)", "tensor-map", "fastest mode has stride 8*N");
  require_problem("order (1,0)", "order (1,1)", "tensor-map", "is no order");
  require_problem("(8*N,1)", "(N + 1,1)", "tensor-map", "not known to be a multiple of 16 bytes");
  require_problem("align 1024", "align 128", "copy-alignment", "aligned to 1024 bytes, got 128");
  require_problem("then mbarrier full[slot(r)] map", "then mbarrier some map", "copy-completion",
                  "expected an mbarrier, got `some`");
  require_problem("h[0,0] <- H[block_x,0]", "a[0] <- X[block_x,0]", "copy",
                  "expected `H`, the tensor of `h_map`, got `X`");
  require_problem("warp q[0] <- h[lane % 8,0] count 8", "warp q[0] <- h[lane % 8,0] count 16",
                  "copy-length", "expected 8 elements a lane for \"x4\", got 16");
  require_problem("count 4 along 1, 1 then group", "count 2 along 1, 1 then group", "copy-length",
                  "expected 16 bytes for \"async16\", got 8");
  require_problem("0, 1 atom \"x4\"", "0, 1 atom \"x3\"", "copy", "no copy_atom is called \"x3\"");
  require_problem("0, 1 atom \"x4\"", "0, 1", "copy", "expected the atom of this copy, got none");
  require_problem(
      "0, 1 atom \"x4\"", "0, 1 atom \"async16\"", "copy",
      "\"async16\" copies by a thread from global to shared, and this copy is by a warp "
      "from shared to register");
  require_problem("(32,(32,4)):(32,(1,1024))", "(32,(32,4)):(32,(1,1025))", "atom",
                  "whose bits are not those of the other side");
  require_problem("(32,(32,4)):(32,(1,1024))", "(32,(2,64)):(129,(33,1))", "atom",
                  "which misses bit 97");
  require_problem("(32,(32,4)):(32,(1,1024))", "(32,(4,32)):(32,(1024,1))", "copy",
                  "copies no elements of f16");
  require_problem("warp shared (32,128):(128,1)", "warp shared (16,256):(256,1)", "atom",
                  "is copied by 32 threads, and (16,256):(256,1) has others");
}

TEST_CASE("stores to other blocks of the cluster") {
  require_problem("st_async s[0,i] <- b[0]", "st_async Y[0,i] <- b[0]", "copy",
                  "from registers to the shared memory");
  require_problem("st_async s[0,i] <- b[0] count 4 along 1, 0",
                  "st_async h[0,i] <- q[0] count 8 along 1, 0", "copy-length", "got 8 of 16");
  require_problem("st_async s[0,i] <- b[0]", "st_async s[0,i + 1] <- b[0]", "copy-alignment",
                  "aligned to 16 bytes, got");
}

TEST_CASE("multiply-accumulate: shapes, types, places") {
  require_problem("register b : f32 4:1", "register b : f32 8:1", "mma",
                  "4 and 8 elements into 4 by 4");
  require_problem("d[] += a[] * b[]", "d[0] += a[] * b[]", "coordinate-rank",
                  "takes 0 coordinates");
  require_problem("d[] += a[] * b[]", "d[] += a[] * s[0,0]", "mma", "not in registers");
  require_problem("mma simt d[] += a[] * b[]", "mma wgmma d[0] += h[0,0] * h[0,0]", "mma",
                  "names its atom");
}

TEST_CASE("barriers: kinds, counts, slots, and who reaches them") {
  require_problem("if warp < 2 {", "if thread < 64 {", "barrier-divergence", "only thread-uniform");
  require_problem("      sync some", "      sync all", "barrier-divergence", "only warp-uniform");
  require_problem("    fill d = 0.0", "    sync all", "barrier-divergence",
                  "is in role `one` of 128");
  require_problem("arrive_expect_bytes full[1] bytes 1024", "sync some", "barrier-divergence",
                  "one elected lane");
  require_problem("arrive_expect_bytes full[1] bytes 1024", "arrive full[2]", "barrier-slot",
                  "slot 2 of `full`");
  require_problem("arrive_expect_bytes full[1] bytes 1024", "arrive full", "missing",
                  "the slot is missing");
  require_problem("ring r stages 2", "ring r stages 2 phase 2", "ring", "0 or 1 for `r`, got 2");
  require_problem("ring r stages 2", "ring r stages 3", "barrier-slot", "3 stages");
  require_problem("ring r stages 2", "ring r stages 0", "ring", "no stages");
  require_problem("count 64 id 1", "count 65 id 1", "barrier", "65 threads");
  require_problem("count 64 id 1", "count 64 id 16", "barrier", "number 16");
  require_problem("slots 2 count 1", "slots 2", "barrier", "0 arrivals");
  require_problem("    fence wgmma", "    if thread < 200 {\n      fence wgmma\n    }",
                  "barrier-divergence", "every thread of the warpgroup");
  require_problem("pending 0", "pending 0 read", "group", "only bulk groups");
}

TEST_CASE("shuffles: types, lane masks, and whole warps that reach them") {
  const std::string shuffle = "shuffle from_far : f32 thread = b[0] from lane xor 16";
  require_problem("lane xor 16", "lane xor 0", "lane-mask", "expected a lane mask in 1..31, got 0");
  require_problem("lane xor 16", "lane xor 32", "lane-mask", "in 1..31, got 32");
  require_problem("lane xor 16", "lane xor -1", "lane-mask", "in 1..31, got -1");
  require_problem("from_far : f32 thread", "from_far : f64 thread", "type",
                  "declared f64 and is f32");
  require_problem("from_far : f32 thread", "from_far : f32 warp", "uniformity",
                  "declared warp-uniform and is thread-uniform");
  require_problem("from_far : f32 thread", "i : f32 thread", "variable-name", "in scope");
  require_problem("    if warp < 2 {\n      shuffle", "    if lane < 16 {\n      shuffle",
                  "barrier-divergence", "the shuffle must be reached by every thread of the warp");
  require_problem("    if warp < 2 {\n      shuffle",
                  "    for k : s32 thread in 0..i {\n      shuffle", "barrier-divergence",
                  "only thread-uniform");
  require_problem("    if warp < 2 {\n      shuffle", "    elect {\n      shuffle",
                  "barrier-divergence", "the shuffle is executed by one elected lane");
  for (const char* element : {"s4", "e3m2", "b128"}) {
    std::string text = changed(shuffle, "shuffle from_far : " + std::string(element) +
                                            " thread = odd[0] from lane xor 16");
    const std::string last = "  register q : f16 8:1\n";
    text.insert(text.find(last), "  register odd : " + std::string(element) + " 8:1\n");
    const std::vector<Problem> found = problems(text);
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == "type");
    CHECK(found[0].message ==
          "expected a pred or a value of 8, 16, 32 or 64 bits to shuffle, got " +
              std::string(element));
  }
  // The last warp of the block has 8 lanes.
  const std::vector<Problem> found = problems(R"(kernel part {
  launch grid (1,1,1) cluster (1,1,1) threads 40
  role all threads 0..40 {
    shuffle other : s32 thread = thread from lane xor 1
  }
})");
  REQUIRE(found.size() == 1);
  CHECK(found[0].code == "barrier-divergence");
  CHECK(found[0].message == "the shuffle needs whole warps, got 40 threads");
}

TEST_CASE("a shuffle keeps how uniform its value is, and what divides it") {
  // A vector of 4 starts at what another lane has: a multiple of 4 as well.
  const std::vector<Problem> found =
      problems(changed("    commit cp_async\n",
                       "    shuffle same : s32 block = block_x from lane xor 1\n"
                       "    shuffle start : s32 thread = i from lane xor 1\n"
                       "    copy b[0] <- s[0,start] count 4 along 0, 1\n    commit cp_async\n"));
  for (const Problem& p : found) FAIL(p.code + ": " + p.message + " in " + p.statement);
}

TEST_CASE("what a text cannot say of copies and barriers is refused in a kernel made by hand") {
  Kernel kernel = parse(kRight);
  const BarrierId all{0}, full{2};
  Block& body = kernel.roles[0].body;
  const auto found = [&](Stmt last) {
    body.push_back(std::move(last));
    const std::vector<Problem> problems = verify(kernel);
    body.pop_back();
    REQUIRE(!problems.empty());
    return problems[0].code + ": " + problems[0].message;
  };
  REQUIRE(found({Sync{full, {}, SyncBlock{}}, {}}) ==
          "barrier-operation: sync: expected a barrier of kind block, got `full` of kind mbarrier");
  REQUIRE(found({Sync{all, {}, WaitMbarrier{}}, {}}) ==
          "barrier-operation: wait: expected a barrier of kind mbarrier, got `all` of kind block");
  Builder b(kernel);
  REQUIRE(found({Sync{full, b.constant(std::int64_t{0}), WaitMbarrier{}}, {}}) ==
          "missing: the phase is missing");
  Copy copy{{}, {}, TmaStore{7}};
  REQUIRE(found({copy, {}}).starts_with("id: "));
}

TEST_CASE("no thread touches global memory before the grid that it waits for is done") {
  const std::string prologue = "threads 256\n  prologue {\n", launch = "threads 256\n";
  REQUIRE(overlaps(parse(changed(launch, prologue + "    fence grid_dependency_wait\n  }\n"))));
  REQUIRE(problems(
              changed(launch, prologue + "    fence grid_dependency_wait\n    Y[0,0] = 0.0\n  }\n"))
              .empty());
  REQUIRE(!overlaps(parse(kRight)));
  require_problem(launch, prologue + "    Y[0,0] = 0.0\n    fence grid_dependency_wait\n  }\n",
                  "fence", "`Y` is touched");
  require_problem(
      launch, prologue + "    let z : f32 block = X[0,0]\n    fence grid_dependency_wait\n  }\n",
      "fence", "`X` is touched");
  require_problem(launch,
                  prologue + "    if warp < 2 {\n      fence grid_dependency_wait\n    }\n  }\n",
                  "fence", "outside of every branch");
  require_problem("    fence wgmma", "    fence grid_dependency_wait", "fence", "in the prologue");
}

TEST_CASE("roles, registers, launch and shared memory keep the machine's limits") {
  require_problem("threads 128..256 registers 232", "threads 96..256 registers 232", "role",
                  "shares thread 96");
  require_problem("threads 128..256 registers 232", "threads 130..256 registers 232", "role",
                  "splits a warp");
  require_problem("threads 128..256 registers 232", "threads 128..288 registers 232", "role",
                  "of 256");
  require_problem("registers 232", "registers 236", "role-registers", "multiples of 8");
  require_problem(" registers 232", "", "role-registers", "no register budget");
  require_problem("threads 0..128 registers 40", "threads 0..96 registers 40", "role-registers",
                  "splits a warpgroup");
  require_problem("cluster (1,1,1)", "cluster (4,4,1)", "launch", "1 to 8 blocks");
  require_problem("threads 256\n", "threads 2048\n", "launch", "2048 threads");
  Kernel kernel = parse(kRight);
  Limits small;
  small.shared_bytes = 4096;
  REQUIRE(verify(kernel, small)[0].code == "shared-memory");
  small = {};
  small.registers = 32768;
  REQUIRE(verify(kernel, small)[0].code == "role-registers");
}

TEST_CASE("layouts of buffers: known on chip, offsets everywhere") {
  require_problem("register a : f32 4:1", "register a : f32 N:1", "layout", "is not known");
  require_problem("register a : f32 4:1", "register a : f32 100000:1", "layout",
                  "100000 elements a thread");
  require_problem("(8,64):(64,1) align 1024", "(8,64):(1@0,1@1) align 1024", "layout",
                  "does not map");
  require_problem("align 1024", "align 1000", "layout", "no power of two");
}

TEST_CASE("after a pass the verifier names it, the statement and the line") {
  try {
    verify_after("tidy up", parse(changed("thread % 8 * 4", "thread % 8 * 2")));
    FAIL("no error");
  } catch (const std::logic_error& e) {
    const std::string what = e.what();
    REQUIRE(what.find("broken after `tidy up`") != std::string::npos);
    REQUIRE(what.find("copy a[0] <- X[block_x,i]") != std::string::npos);
  }
}

TEST_CASE("elements of 4 bits are written to memory in whole bytes, and by no tensor map") {
  const std::string right = R"(kernel halves {
  size N
  assume N % 8 == 0
  global X : s4 (4,N):(N,1) read align 16
  global Y : s4 (4,N):(N,1) write align 16
  global Z : f32 N:1 write align 4
  shared s : s4 (4,32):(32,1) align 16
  register x : s4 8:1
  copy_atom "async4" thread global (1,32):(0,1) to shared (1,32):(0,1)
  launch grid (1,1,1) cluster (1,1,1) threads 32
  role all threads 0..32 {
    let i : s32 thread = lane % 4 * 8
    copy x[0] <- X[0,i] count 8 along 0, 1 when i < N else zero
    copy s[0,i] <- x[0] count 8 along 1, 0
    copy cp_async s[1,i] <- X[1,i] count 8 along 1, 1 then group atom "async4"
    copy x[1] <- X[2,lane]
    Z[i] = f32(x[1])
  }
})";
  for (const Problem& p : problems(right)) FAIL(p.code + ": " + p.message + " in " + p.statement);
  const auto first = [&](const std::string& from, const std::string& to) {
    std::string text = right;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    const auto found = problems(text.replace(at, from.size(), to));
    return found.empty() ? "" : found[0].code + ": " + found[0].message;
  };
  CHECK(first("Z[i] = f32(x[1])", "Y[0,i] = x[1]") ==
        "half-byte: expected `Y[0,i]` written in whole bytes, got 1 elements of s4");
  CHECK(first("copy s[0,i] <- x[0] count 8 along 1, 0", "copy s[0,i] <- x[0]") ==
        "half-byte: expected `s[0,i]` written in whole bytes, got 1 elements of s4");
  CHECK(first("assume N % 8 == 0", "assume N % 4 == 0").starts_with("copy-alignment: "));
  CHECK(first("copy cp_async s[1,i] <- X[1,i] count 8", "copy cp_async s[1,i] <- X[1,i] count 4") ==
        "copy-length: expected 4 bytes for \"async4\", got 2");
  CHECK(first("register x : s4 8:1",
              "register x : s4 8:1\n  tensor_map map of X order (1,0) box (32,4)") ==
        "tensor-map: `map`: its tensor has elements of s4, which are no whole bytes");
}
