// The commands as a user types them: what they print, write and return.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/command/folder.h"

using namespace lay::test;

TEST_CASE("exit codes tell whose fault it is") {
  Folder folder;
  put(folder / "right.lay", "print 1 + 1\n");
  put(folder / "wrong.lay", "print nothing_of_that_name\n");
  CHECK(folder.lay({"run", "right.lay"}).code == 0);
  CHECK(folder.lay({"run", "right.lay"}).out == "2\n");
  CHECK(folder.lay({"run", "wrong.lay"}).code == 1);
  CHECK(folder.lay({"run", "absent.lay"}).code == 1);
  CHECK(folder.lay({"run", "absent.lay"}).error.find("there is no such file") != std::string::npos);
  CHECK(folder.lay({"run"}).code == 2);
  CHECK(folder.lay({"rnu", "right.lay"}).code == 2);
  CHECK(folder.lay({"rnu", "right.lay"}).error.find("Did you mean `lay run`?") !=
        std::string::npos);
  CHECK(folder.lay({"right.lay"}).code == 2);
  CHECK(folder.lay({"right.lay"}).error.find("`lay run right.lay`") != std::string::npos);
  CHECK(folder.lay({"run", "right.lay", "--on", "moon"}).code == 2);
  CHECK(folder.lay({"run", "right.lay", "--set", "M"}).code == 2);
  CHECK(folder.lay({"--help"}).code == 0);
  CHECK(folder.lay({"--help"}).out.find("exit codes:") != std::string::npos);
  CHECK(folder.lay({"--version"}).code == 0);
}

TEST_CASE("run counts wavefronts and sectors beside the plan's, and takes another order of warps") {
  Folder folder;
  put(folder / "turn.lay",
      "kernel turn<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (N,M):(M,1) { Y[i,j] = X[j,i] }\n"
      "schedule turn for simt { tile = (32,32); threads = 128; smem X = (32,32):(32,1) }\n"
      "let X = random(f32, (64,64))\n"
      "assert all(turn(X) == transpose(X))\n");
  const auto counted = folder.lay({"run", "turn.lay", "--counts", "--order", "3"});
  INFO(counted.error);
  CHECK(counted.code == 0);
  CHECK(counted.error.find("in the host interpreter") != std::string::npos);
  CHECK(counted.error.find("X_shared: ") != std::string::npos);
  CHECK(counted.error.find("wavefronts an access of a warp") != std::string::npos);
  CHECK(counted.error.find("  predicted, ") != std::string::npos);
  CHECK(counted.error.find("line 1, Y: 16 sectors an access of a warp, 16 at the least") !=
        std::string::npos);
  CHECK(counted.error.find("  32768 bytes in sectors of global memory, boxes of TMA not counted; "
                           "predicted with them: "
                           "32768 through L2") != std::string::npos);
  CHECK(folder.lay({"run", "turn.lay", "--on", "host"}).error.find("sectors") == std::string::npos);
}

TEST_CASE("no access is counted below the sectors that it needs at the least") {
  Folder folder;
  put(folder / "add.lay",
      "kernel add<M, N>(X: f32 (M,N):(N,1), b: f32 M:1) -> Y: f32 (M,N):(N,1)\n"
      "{ Y[m,n] = X[m,n] + b[m] }\n");
  const auto counted =
      folder.lay({"run", "add.lay", "--counts", "--random", "--set", "M=64", "--set", "N=128"});
  INFO(counted.error);
  CHECK(counted.code == 0);
  // A warp works on one row: its lanes want the same four bytes of b.
  CHECK(counted.error.find("b: 1 sectors an access of a warp, 1 at the least") !=
        std::string::npos);
}

TEST_CASE("an array whose numbers change in a narrower type is said to be rounded") {
  Folder folder;
  put(folder / "make.lay",
      "save(\"random.npy\", random(f32, 4))\nsave(\"whole.npy\", random(f32, 4, 1, -4, 4))\n");
  CHECK(folder.lay({"run", "make.lay"}).code == 0);
  for (const std::string type : {"f16", "bf16", "e4m3"}) {
    INFO(type);
    const std::string copy =
        "kernel copy<N>(X: " + type + " N:1) -> Y: " + type + " N:1 { Y[n] = X[n] }\n";
    put(folder / "copy.lay", copy);
    const std::string said = " is rounded from f32 to " + type;
    const auto run = [&](const std::string& file) {
      const auto ended = folder.lay({"run", "copy.lay", "--in", "X=" + file});
      CHECK(ended.code == 0);
      return ended.error.find(said) != std::string::npos;
    };
    CHECK(run("random.npy"));
    CHECK(!run("whole.npy"));
    CHECK(folder.lay({"run", "copy.lay", "--in", "X=random.npy"}).error.find("note[rounded]") !=
          std::string::npos);
    const auto called = [&](const std::string& array) {
      put(folder / "call.lay", copy + "print copy(" + array + ")\n");
      const auto ended = folder.lay({"run", "call.lay"});
      CHECK(ended.code == 0);
      return ended.error.find(said) != std::string::npos;
    };
    CHECK(called("random(f32, 4)"));
    CHECK(!called("random(f32, 4, 1, -4, 4)"));
  }
}

TEST_CASE("bench reads sizes and numbers, and names a missing GPU") {
  Folder folder;
  put(folder / "scale.lay", scale);
  put(folder / "none.lay", "print 1\n");
  CHECK(folder.lay({"bench", "scale.lay", "--size", "M"}).code == 2);
  CHECK(folder.lay({"bench", "scale.lay", "--size", "M=many"}).code == 2);
  CHECK(folder.lay({"bench", "scale.lay", "--set", "a=much"}).code == 2);
  CHECK(folder.lay({"bench", "scale.lay", "--rounds", "0"}).code == 2);
  CHECK(folder.lay({"bench", "none.lay"}).code == 1);
  CHECK(folder.lay({"bench", "scale.lay", "--kernel", "other"}).error.find("it has `scale`") !=
        std::string::npos);
  const auto hidden = run_lay({"bench", "scale.lay", "--size", "M=8,N=8"},
                              {"", folder.path().string(), {"CUDA_VISIBLE_DEVICES="}, 60, 0});
  CHECK(hidden.code == 3);
  CHECK(hidden.error.find("lay bench: no GPU to measure on: ") == 0);
}

TEST_CASE("run takes arrays and numbers, or makes them, and writes arrays") {
  Folder folder;
  put(folder / "scale.lay", scale);
  const auto made = folder.lay({"run", "scale.lay", "--random", "--set", "M=3", "--set", "N=5",
                                "--set", "a=1", "--out", "Y=y.npy", "--on", "host"});
  INFO(made.error);
  CHECK(made.code == 0);
  CHECK(made.error.find("scale: ") != std::string::npos);
  CHECK(made.error.find("in the host interpreter") != std::string::npos);
  const std::string y = slurp(folder / "y.npy");
  CHECK(y.size() == 128 + 3 * 5 * 4);
  // Y times 1 is Y: the arrays go in and out unchanged, and twice the seed is twice the same.
  CHECK(folder
            .lay({"run", "scale.lay", "--in", "X=y.npy", "--set", "a=1", "--out", "Y=z.npy", "--on",
                  "host"})
            .code == 0);
  CHECK(slurp(folder / "z.npy") == y);
  folder.lay({"run", "scale.lay", "--random", "--seed", "2", "--set", "M=3", "--set", "N=5",
              "--set", "a=1", "--out", "Y=z.npy", "--on", "host"});
  CHECK(slurp(folder / "z.npy") != y);
}

TEST_CASE("a kernel that runs one thread an element is warned of, and refused with --strict") {
  Folder folder;
  const std::string code = "one-thread-an-element";
  put(folder / "rows.lay",
      "kernel rows<M, N>(X: f32 (M,N)) -> Y: f32 M {\n"
      "  Y[m] = if m > 0 then sum[n](X[m-1,n]) else 0\n}\n");
  put(folder / "tiled.lay",
      scale +
          "kernel product<M, N, K>(A: f32 (M,K):(K,1), B: f32 (N,K):(K,1)) -> C: f32 "
          "(M,N):(N,1) { C[m,n] = sum[k](A[m,k] * B[n,k]) }\n");
  const std::vector<std::vector<std::string>> commands = {
      {"check"},
      {"run", "--random", "--set", "M=3", "--set", "N=4", "--on", "host"},
      {"build", "-o", "built"}};
  for (auto command : commands) {
    INFO(command.front());
    command.push_back("rows.lay");
    const Finished warned = folder.lay(command);
    CHECK(warned.code == 0);
    CHECK(warned.error.find("warning[" + code +
                            "]: kernel `rows` runs one thread an element, an "
                            "estimated ") != std::string::npos);
    if (command.front() == "build") continue;  // --strict asks for a compiler there
    command.push_back("--strict");
    const Finished refused = folder.lay(command);
    CHECK(refused.code == 1);
    CHECK(refused.error.find("error[" + code + "]") != std::string::npos);
    CHECK(refused.out.find("Y = ") == std::string::npos);
  }
  // The sizes are those at which the kernel is worst: fewer experts than rows.
  put(folder / "grouped.lay",
      "kernel grouped<T, E, N, K>(X: bf16 (T,K), start: s32 (E + 1), order: s32 K, W: bf16 "
      "(E,N,K)) "
      "-> Y: bf16 (T,N) {\n  let expert[t] = segment_of[e](start[e], t)\n"
      "  Y[t,n] = sum[k](X[t,k] * W[expert[t],n,order[k]])\n}\n");
  const Finished grouped = folder.lay({"check", "grouped.lay", "--strict"});
  CHECK(grouped.code == 1);
  CHECK(grouped.error.find("where E is 16 and every other size is 4096") != std::string::npos);
  CHECK(folder.lay({"check", "tiled.lay", "--strict"}).code == 0);
  CHECK(folder.lay({"check", "tiled.lay"}).error == "");
}

TEST_CASE("run leaves a kernel alone that a script with results of its own does not call") {
  Folder folder;
  put(folder / "both.lay", scale + "print 1 + 1\n");
  const Finished ran = folder.lay({"run", "both.lay"});
  CHECK(ran.code == 0);
  CHECK(ran.out == "2\n");
  CHECK(ran.error.find("no kernel was run") != std::string::npos);
  put(folder / "alone.lay", scale);
  CHECK(folder.lay({"run", "alone.lay"}).code == 1);
}

TEST_CASE("run says what is missing") {
  Folder folder;
  put(folder / "scale.lay", scale);
  const auto complaint = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "scale.lay"});
    const auto ended = folder.lay(arguments);
    CHECK(ended.code == 1);
    return ended.error;
  };
  CHECK(complaint({}).find("needs `X`: --in X=FILE.npy, or --random") != std::string::npos);
  CHECK(complaint({"--random", "--set", "M=3"}).find("nothing says what N of scale is") !=
        std::string::npos);
  CHECK(complaint({"--random", "--set", "M=3", "--set", "N=4"}).find("--set a=") !=
        std::string::npos);
  CHECK(complaint({"--random", "--set", "Q=3"}).find("no size or scalar `Q`") != std::string::npos);
  CHECK(complaint({"--in", "Q=x.npy"}).find("no input `Q`") != std::string::npos);
  CHECK(complaint({"--random", "--out", "X=x.npy"}).find("no output `X`") != std::string::npos);
  CHECK(complaint({"--random", "--set", "M=many"}).find("is not a number") != std::string::npos);
  CHECK(complaint({"--random", "--set", "M=4,N=4"}).find("--set M=64 --set N=64") !=
        std::string::npos);
  CHECK(complaint({"--in", "X=absent.npy"}).find("there is no such file") != std::string::npos);
  put(folder / "scale.lay", "print 1\n");
  CHECK(complaint({"--random"}).find("has no kernel") != std::string::npos);
}

TEST_CASE("check reports every verdict") {
  Folder folder;
  put(folder / "a.lay", "dim M\nprove M * 2 % 2 == 0\nprove M % 2 == 0\n");
  const auto ended = folder.lay({"check", "a.lay"});
  CHECK(ended.code == 1);
  CHECK(ended.out.find("a.lay:2:1: proved ") != std::string::npos);
  CHECK(ended.out.find("a.lay:3:1: refuted") != std::string::npos);
  CHECK(ended.out.find("M = 1") != std::string::npos);
  CHECK(ended.out.find("1 proved, 0 guarded, 0 undecided, 1 refuted") != std::string::npos);
}

TEST_CASE("every stage can be dumped") {
  Folder folder;
  put(folder / "scale.lay", scale);
  CHECK(folder.lay({"check", "scale.lay", "--dump", "tree"}).out.find("(kernel scale") !=
        std::string::npos);
  CHECK(folder.lay({"check", "scale.lay", "--dump", "typed"}).out.find("Y[m,n] = %") !=
        std::string::npos);
  CHECK(folder.lay({"check", "scale.lay", "--dump", "plan"}).out.find("// variant bytes16") !=
        std::string::npos);
  CHECK(folder.lay({"check", "scale.lay", "--dump", "ir"}).out.find("kernel scale") !=
        std::string::npos);
  CHECK(folder.lay({"check", "scale.lay", "--dump", "cuda"}).out.find("__global__") !=
        std::string::npos);
  CHECK(folder.lay({"plan", "scale.lay"}).out.find("// variant bytes16") != std::string::npos);
}

TEST_CASE("plan dumps tile programs after a pass, and says where there are none yet") {
  Folder folder;
  put(folder / "two.lay", scale +
                              "kernel total<M, N>(X: f32 (M,N):(N,1)) -> s: f32 M:1\n"
                              "{ s[m] = sum[n](X[m,n]) }\n"
                              "kernel product<M, K>(A: f32 (M,K), B: f32 (K,M)) -> C: f32 (M,M)\n"
                              "{ C[m,n] = sum[k](A[m,k] * B[k,n]) }\n");
  const auto dump = [&](std::vector<std::string> more) {
    std::vector<std::string> all{"plan", "two.lay", "--dump"};
    all.insert(all.end(), more.begin(), more.end());
    return folder.lay(all);
  };
  const auto holds = [](const std::string& text, const std::string& part) {
    INFO(part << " in\n" << text);
    CHECK(text.find(part) != std::string::npos);
  };
  const auto formed = dump({"form"});
  CHECK(formed.code == 0);
  holds(formed.out, "program scale\n");
  holds(formed.out, "program product\n");
  holds(formed.out, "mma sum[m,n] += tile_A[m,k] * tile_B[n,k] over k\n");
  holds(formed.out, "program total\n");
  holds(formed.out, "  for n in sequence {\n");
  const auto bound = dump({"bind", "--kernel", "total", "--variant", "streamed"});
  CHECK(bound.code == 0);
  CHECK(bound.out.rfind("# variant streamed where N % 4 == 0 and X is aligned to 16 bytes\n", 0) ==
        0);
  holds(bound.out, " by 4 along mode 1\n");
  CHECK(bound.out.find("# variant", 1) == std::string::npos);
  holds(dump({"expand", "--kernel", "total", "--variant", "streamed"}).out, "kernel total");
  holds(dump({"bind", "--kernel", "total", "--size", "M=64,N=64"}).out, "# variant ");
  holds(dump({"bind", "--kernel", "product"}).out, " stages 2\n");
  holds(dump({"expand", "--kernel", "product"}).out, "mma simt");
  const auto missing = dump({"bind", "--kernel", "total", "--variant", "steamed"});
  CHECK(missing.code == 1);
  holds(missing.error, "error[unknown-variant]: the plan of `total` has no variant `steamed`");
  holds(missing.error, "did you mean streamed?");
  CHECK(dump({"cuda"}).code == 2);
  CHECK(folder.lay({"plan", "two.lay", "--variant", "streamed"}).code == 2);
}

TEST_CASE("plan names the bottleneck at given sizes, on a GPU that is named") {
  Folder folder;
  put(folder / "turn.lay",
      "kernel turn<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (N,M):(M,1)\n{ Y[i,j] = X[j,i] }\n");
  const auto large = folder.lay({"plan", "turn.lay", "--size", "M=8192,N=4096"});
  CHECK(large.code == 0);
  // 2 * 4 * 8192 * 4096 bytes at 4.8 TB/s.
  CHECK(large.out.find("// at M = 8192, N = 4096 on h200, 132 SMs:\n") != std::string::npos);
  CHECK(large.out.find("//   global memory             55.92 us       268.44 MB\n") !=
        std::string::npos);
  // Copies reach seven eighths of that.
  CHECK(large.out.find("//   at least 58.42 us, bound by global memory; expected 66.41 us\n") !=
        std::string::npos);
  // The variant that takes these sizes, or another one that does; bytes16 takes no odd ones.
  CHECK(large.out.starts_with("// variant bytes16\n"));
  const auto named = [&](const std::string& variant, const std::string& size) {
    return folder.lay({"plan", "turn.lay", "--size", size, "--variant", variant});
  };
  CHECK(named("any", "M=8192,N=4096").out.starts_with("// variant any\n"));
  CHECK(named("bytes16", "M=8191,N=4097").error.starts_with("error[unknown-variant]: "));
  CHECK(folder.lay({"plan", "turn.lay", "--variant", "any"}).code == 2);
  const auto slow = folder.lay({"plan", "turn.lay", "--size", "M=8192,N=4096", "--gpu", "a40"});
  CHECK(slow.out.find("on a40, 84 SMs:\n") != std::string::npos);
  CHECK(slow.out.find("//   global memory            385.68 us       268.44 MB\n") !=
        std::string::npos);
  CHECK(folder.lay({"plan", "turn.lay", "--size", "64"}).out.find("bound by the launch") !=
        std::string::npos);
  CHECK(folder.lay({"plan", "turn.lay"}).out.find("// at ") == std::string::npos);
  CHECK(
      folder.lay({"plan", "turn.lay", "--size", "M=8"}).out.find(" variants are built for M=8\n") !=
      std::string::npos);
  CHECK(folder.lay({"plan", "turn.lay", "--gpu", "tpu"}).error.find("unknown-target") !=
        std::string::npos);
}

TEST_CASE("plan takes one of several kernels, whose sizes the others need not have") {
  Folder folder;
  put(folder / "two.lay",
      std::string(scale) +
          "kernel turn<P, Q>(X: f32 (P,Q):(Q,1)) -> Y: f32 (Q,P):(P,1)\n{ Y[i,j] = X[j,i] }\n");
  put(folder / "none.lay", "print 1\n");
  const std::string both = folder.lay({"plan", "two.lay", "--all"}).out;
  CHECK(both.find("schedule scale") != std::string::npos);
  CHECK(both.find("schedule turn") != std::string::npos);
  const auto one = folder.lay({"plan", "two.lay", "--all", "--kernel", "turn"});
  CHECK(one.code == 0);
  CHECK(one.out.find("schedule scale") == std::string::npos);
  CHECK(one.out.find("schedule turn") != std::string::npos);
  const std::vector<std::string> sized{"plan", "two.lay", "--size", "P=512,Q=256"};
  CHECK(folder.lay(sized).code == 1);
  auto of_turn = sized;
  of_turn.insert(of_turn.end(), {"--kernel", "turn"});
  CHECK(folder.lay(of_turn).code == 0);
  CHECK(folder.lay(of_turn).out.find("// at P = 512, Q = 256 on h200") != std::string::npos);
  const auto misspelt =
      folder.lay({"plan", "two.lay", "--kernel", "turn", "--size", "P=512,Q=256,O=4"});
  CHECK(misspelt.code == 1);
  CHECK(misspelt.error.find("no kernel here has a size `O`") != std::string::npos);
  const auto other = folder.lay({"plan", "two.lay", "--kernel", "other"});
  CHECK(other.code == 1);
  CHECK(other.error.find("it has `scale`, `turn`") != std::string::npos);
  CHECK(folder.lay({"plan", "none.lay"}).code == 0);
  CHECK(folder.lay({"plan", "none.lay", "--kernel", "turn"}).error.find("no-kernel") !=
        std::string::npos);
}

TEST_CASE("fmt has one formatting, and leaves alone what is formatted") {
  Folder folder;
  const std::string untidy = "let   a=( 4,2 ) : (1,4)  // words\n";
  const std::string tidy = folder.lay({"fmt"}, untidy).out;
  CHECK(tidy.find("// words") != std::string::npos);
  CHECK(tidy != untidy);
  CHECK(folder.lay({"fmt"}, tidy).out == tidy);
  put(folder / "a.lay", untidy);
  CHECK(folder.lay({"fmt", "--check", "a.lay"}).code == 1);
  CHECK(folder.lay({"fmt", "--check", "a.lay"}).out == "a.lay\n");
  CHECK(slurp(folder / "a.lay") == untidy);
  CHECK(folder.lay({"fmt", "a.lay"}).code == 0);
  CHECK(slurp(folder / "a.lay") == tidy);
  CHECK(folder.lay({"fmt", "--check", "a.lay"}).code == 0);
  put(folder / "a.lay", "let (");
  CHECK(folder.lay({"fmt", "a.lay"}).code == 1);
  CHECK(slurp(folder / "a.lay") == "let (");
}

TEST_CASE("explain derives an expression, help prints pages") {
  Folder folder;
  put(folder / "a.lay", "dim M\nassume M % 8 == 0\nlet A = (M,4):(4,1)\nprint 1\n");
  const auto known = folder.lay({"explain", "(6,2):(8,2) o 4:3"});
  CHECK(known.code == 0);
  CHECK(known.out.find("6/3 = 2 divides 4") != std::string::npos);
  CHECK(known.out.find("  = (2,2):(24,2)\n") != std::string::npos);
  const auto named = folder.lay({"explain", "--file", "a.lay", "coalesce(A)"});
  CHECK(named.out.rfind("coalesce: L = (M,4):(4,1)\n", 0) == 0);
  CHECK(folder.lay({"explain", "dim N; N:1 o 4:2"}).code == 0);
  const auto wrong = folder.lay({"explain", "(6,2):(1,7) o (3,2):(2,3)"});
  CHECK(wrong.code == 1);
  CHECK(wrong.out.find("they carry into the next mode") != std::string::npos);
  CHECK(wrong.error.find("error[composition-carry]") != std::string::npos);
  CHECK(folder.lay({"explain"}).code == 2);
  CHECK(folder.lay({"help", "composition-carry"}).out.find("This works:") != std::string::npos);
  CHECK(folder.lay({"help", "coalesce"}).out.find("lay> coalesce(") != std::string::npos);
  CHECK(folder.lay({"help"}).out.find("composition-carry") != std::string::npos);
  const auto unknown = folder.lay({"help", "composition-cary"});
  CHECK(unknown.code == 1);
  CHECK(unknown.error.find("did you mean composition-carry?") != std::string::npos);
}

TEST_CASE("cache shows what is kept, and removes it") {
  const Folder folder;
  const std::string kept = (folder.path() / "kept").string();
  const Setting setting = {"", folder.path().string(), {"LAY_CACHE_DIR=" + kept}, 60, 0};
  CHECK(run_lay({"cache"}, setting).out == kept + ": 0 entries, 0.0 MiB of 256.0 MiB\n");
  const std::string damaged = kept + "/" + std::string(64, 'a') + ".bad";
  put(damaged, std::string(3 << 20, 'x'));
  CHECK(run_lay({"cache"}, setting).out == kept + ": 0 entries, 1 damaged, 3.0 MiB of 256.0 MiB\n");
  CHECK(run_lay({"cache", "--clear"}, setting).out ==
        "removed 0 entries, 1 damaged, 3.0 MiB: " + kept + "\n");
  CHECK(!std::filesystem::exists(damaged));
  const Setting nowhere = {"", folder.path().string(), {"LAY_CACHE_DIR=" + damaged + "/x"}, 60, 0};
  put(damaged, "");
  const auto none = run_lay({"cache"}, nowhere);
  CHECK(none.code == 0);
  CHECK(none.out.starts_with("no cache: "));
}

TEST_CASE("doctor says what was found and what was not") {
  Folder folder;
  const auto ended = folder.lay({"doctor"});
  CHECK(ended.code == 0);
  for (const std::string what : {"driver", "cache", "NVRTC", "nvcc", "kernels run "}) {
    INFO(what);
    CHECK(ended.out.find(what) != std::string::npos);
  }
}

TEST_CASE("scripts use what lies beside them and nothing else") {
  Folder folder;
  std::filesystem::create_directory(folder / "in");
  put(folder / "in/mine.lay", "let q = 7\n");
  put(folder / "outside.lay", "let q = 8\n");
  put(folder / "in/a.lay", "use \"mine.lay\"\nprint q\n");
  put(folder / "in/b.lay", "use \"../outside.lay\"\n");
  CHECK(folder.lay({"run", "in/a.lay"}).out == "7\n");
  CHECK(folder.lay({"run", "in/b.lay"}).code == 1);
  std::filesystem::create_symlink("../outside.lay", folder / "in/link.lay");
  put(folder / "in/c.lay", "use \"link.lay\"\n");
  CHECK(folder.lay({"run", "in/c.lay"}).code == 1);
}

TEST_CASE("bf16 arrays come as f32 or as bits, and leave so too") {
  Folder folder;
  put(folder / "copy.lay", "kernel copy<N>(X: bf16 N:1) -> Y: bf16 N:1 { Y[n] = X[n] }\n");
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "copy.lay", "--on", "host"});
    const auto ended = folder.lay(arguments);
    INFO(ended.error);
    CHECK(ended.code == 0);
  };
  run({"--random", "--set", "N=7", "--out", "Y=f32.npy"});
  run({"--in", "X=f32.npy", "--out", "Y=bits.npy", "--bits"});
  CHECK(slurp(folder / "bits.npy").size() == 128 + 7 * 2);
  CHECK(slurp(folder / "bits.npy").find("|V2") != std::string::npos);
  run({"--in", "X=bits.npy", "--out", "Y=again.npy"});
  CHECK(slurp(folder / "again.npy") == slurp(folder / "f32.npy"));
}

TEST_CASE("an array of other elements is refused with a way out") {
  Folder folder;
  put(folder / "a.lay", "save(\"x.npy\", random(f64, (2,3)))\n");
  put(folder / "scale.lay", scale);
  CHECK(folder.lay({"run", "a.lay"}).code == 0);
  const auto ended = folder.lay({"run", "scale.lay", "--in", "X=x.npy", "--set", "a=1"});
  CHECK(ended.code == 1);
  CHECK(ended.error.find("is of f32, and `x.npy` holds f64") != std::string::npos);
  CHECK(ended.error.find(".astype()") != std::string::npos);
}

TEST_CASE("a GPU that is not there is no mistake of the script") {
  Folder folder;
  put(folder / "scale.lay", scale);
  const auto ended = folder.lay({"run", "scale.lay", "--random", "--set", "M=2", "--set", "N=2",
                                 "--set", "a=1", "--on", "gpu"});
  CHECK((ended.code == 0 || ended.code == 3));
  if (ended.code == 3) CHECK(ended.error.find("lay: --on gpu: ") != std::string::npos);
}

TEST_CASE("what a script holds does not command the terminal") {
  Folder folder;
  put(folder / "a.lay", "print \"\x1b[31mred\\tand\\nblue\"\nprint \"\x1b\" + 1\n");
  const auto ended = folder.lay({"run", "a.lay"});
  CHECK(ended.out == "\\x1b[31mred\tand\nblue\n");
  CHECK(ended.error.find('\x1b') == std::string::npos);
  CHECK(run_lay({}, {"\"\x1b[31m\"\n", ".", {}, 60, 0}).out == "\"\\x1b[31m\"\n");
  CHECK(folder.lay({"run", "\x1b[31m.lay"}).error.find('\x1b') == std::string::npos);
}

TEST_CASE("a script may give the names that lowered kernels have for variables of their own") {
  Folder folder;
  for (const char* type : {"f32", "bf16"}) {
    const std::string t = type;
    put(folder / "names.lay",
        "kernel names<M, N, K>(i: " + t + " (M,K):(K,1), j: " + t +
            " (N,K):(K,1), v: f32 M:1, step: f32 N:1, s: f32, e: f32) -> pass: " + t +
            " (M,N):(N,1)\n{ pass[m,n] = sum[k](i[m,k] * j[n,k]) * v[m] * s + step[n] * e }\n"
            "kernel transposed<M, N>(access: " +
            t + " (M,N):(N,1)) -> element: " + t +
            " (N,M):(M,1)\n{ element[a,b] = access[b,a] }\n");
    const Finished ended = folder.lay({"check", "names.lay", "--dump", "ir"});
    INFO(ended.error);
    CHECK(ended.code == 0);
    CHECK(ended.out.find("names") != std::string::npos);
  }
}
