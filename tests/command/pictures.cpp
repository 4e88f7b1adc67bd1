// `lay show` and `lay export` as a user types them, and `show` on terminals of several kinds.
#include <catch2/catch.hpp>

#include "tests/command/fast.h"
#include "tests/command/process.h"
#include "tests/command/terminal.h"
#include "tests/runtime/temporary.h"

using namespace lay::test;

namespace {

struct Folder : TemporaryFolder {
  Finished lay(const std::vector<std::string>& arguments) const {
    return run_lay(arguments, {"", path().string(), {}, 60, 0});
  }
};

// All that a terminal shows of `show (2,2):(1,2)` up to its last line.
std::string on_terminal(const std::vector<std::string>& environment) {
  Terminal terminal({"show", "(2,3):(3,1)"}, environment);
  const std::string shown = terminal.wait_for(" 5");
  return shown + (terminal.finish() == 0 ? "" : "failed");
}

}  // namespace

TEST_CASE("show writes the form that the file's name says") {
  Folder folder;
  const std::string divide = "zipped_divide((6,8):(8,1), (2,4))";
  for (const auto& [file, start] :
       std::vector<std::pair<std::string, std::string>>{{"a.svg", "<svg "},
                                                        {"a.html", "<!DOCTYPE html>"},
                                                        {"a.tex", "\\documentclass"},
                                                        {"a.txt", "zipped_divide("}}) {
    INFO(file);
    const Finished run = folder.lay({"show", divide, "-o", file});
    CHECK(run.code == 0);
    CHECK(run.out.empty());
    CHECK(slurp(folder / file).rfind(start, 0) == 0);
  }
  CHECK(folder.lay({"show", divide, "--to", "svg"}).out == slurp(folder / "a.svg"));
  const Finished other = folder.lay({"show", divide, "-o", "a.gif"});
  CHECK(other.code == 1);
  CHECK(other.error.find("a name that ends in .svg, .png, .html, .tex or .txt") !=
        std::string::npos);
}

TEST_CASE("show writes a PNG by the first converter on PATH that makes one") {
  Folder folder;
  const auto with_path = [&](const std::string& path) {
    return run_lay({"show", "(2,2):(1,2)", "-o", "a.png"},
                   {"", folder.path().string(), {"PATH=" + path}, 60, 0});
  };
  // Without a converter: what this machine lacks is named, and nothing is written.
  const Finished none = with_path("/nonexistent");
  CHECK(none.code == 3);
  CHECK(none.error.find("a PNG needs rsvg-convert, inkscape, chromium or ImageMagick") !=
        std::string::npos);
  CHECK(!std::filesystem::exists(folder / "a.png"));
  // A program that fails, or writes something else, is passed over.
  const auto program = [&](const std::string& name, const std::string& text) {
    put(folder / name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
  };
  program("rsvg-convert", "exit 1\n");
  program("inkscape", "for a; do case $a in --export-filename=*) echo no >${a#*=};; esac; done\n");
  const Finished failed = with_path(folder.path().string());
  CHECK(failed.code == 3);
  CHECK(failed.error.find("no PNG came from rsvg-convert, inkscape") != std::string::npos);
  program("magick", "printf '\\211PNG\\r\\n\\032\\nrest' >${4#png:}\n");
  const Finished made = with_path(folder.path().string());
  INFO(made.error);
  CHECK(made.code == 0);
  CHECK(slurp(folder / "a.png") == "\x89PNG\r\n\x1a\nrest");
}

TEST_CASE("LaTeX gets no more boxes than TeX has room for, and says what is left out") {
  Folder folder;
  const auto count = [](const std::string& text, const std::string& word) {
    size_t n = 0;
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++n;
    return n;
  };
  for (const char* expression :
       {"Sw<3,3,3> o 0 o (64,64):(64,1)", "(1,1000000):(0,1000000000000)",
        "blocked_product((128,128):(1,128), (128,128):(1,128))", "[99999:1 for i in 0..64]",
        "((4,8),(2,2,64)):((32,1),(16,8,128)), tile = (16,512)"}) {
    INFO(expression);
    const std::string text = folder.lay({"show", expression, "--to", "tex"}).out;
    CHECK(count(text, " box") > 60);
    CHECK(count(text, "\\path[cell box") + count(text, "\\path[empty box") <= 2 * (1024 + 64));
    CHECK(count(text, "drawn: ") > 0);
  }
  run_lay({}, {":show (64,64):(64,1) -o r.tex\n:show (64,64):(64,1) -o r.svg\n",
               folder.path().string(),
               {},
               60,
               0});
  CHECK(count(slurp(folder / "r.tex"), "\\path[cell box") == 1024);
  CHECK(slurp(folder / "r.svg").find(">4095<") != std::string::npos);
  const std::string exported = folder.lay({"export", "(512,512):(512,1)", "--to", "latex"}).out;
  CHECK(count(exported, "\\path[cell box") == 1024);
  CHECK(folder.lay({"export", "(4,2):(1,4)", "--to", "triton", "--tile", "f16"})
            .error.find("a tile is a shape") != std::string::npos);
}

TEST_CASE("show takes names from a script and sizes from the command line") {
  Folder folder;
  put(folder / "a.lay", "dim M\nassume M % 2 == 0\nlet A = (M,2):(2,1)\nprint A\nshow A, M = 4\n");
  CHECK(folder.lay({"show", "A, M = 2", "--file", "a.lay"}).out ==
        "A\n= (2,2):(2,1)\n\n2:1   0  1\n2:2\n  0   0  1\n  1   2  3\n");
  CHECK(folder.lay({"show", "(N,2):(2,1)", "--set", "N=1"}).out ==
        "(N,2):(2,1)\n= (1,2):(2,1)\n\n2:1   0  1\n1:2\n  0   0  1\n");
  CHECK(folder.lay({"show", "(N,2):(2,1)"}).error.find("--set NAME=8") != std::string::npos);
  CHECK(folder.lay({"show", "A", "--file", "a.lay"}).error.find("show ..., M = 8") !=
        std::string::npos);
  CHECK(folder.lay({"show", "A, M = 3", "--file", "a.lay"}).error.find("contradicts") !=
        std::string::npos);
}

TEST_CASE("a check draws nothing, and needs no sizes") {
  Folder folder;
  put(folder / "a.lay", "dim M\nlet A = (M,2):(2,1)\nshow A\nshow A, view = line\n");
  const Finished check = folder.lay({"check", "a.lay"});
  CHECK(check.code == 0);
  CHECK(check.out.find("addresses") == std::string::npos);
  CHECK(folder.lay({"run", "a.lay"}).code == 1);
  CHECK(folder.lay({"run", "a.lay", "--set", "M=2"}).out.find("1   2  3") != std::string::npos);
}

TEST_CASE("a terminal gets the colours that it has") {
  const std::string many = on_terminal({"TERM=xterm", "COLORTERM=truecolor"});
  CHECK(many.find("\x1b[38;2;0;0;0;48;2;") != std::string::npos);
}

TEST_CASE("256 colours, and none, where the terminal has no more") {
  CHECK(on_terminal({"TERM=xterm-256color", "COLORTERM="}).find("\x1b[38;5;16;48;5;") !=
        std::string::npos);
  for (const std::vector<std::string>& environment :
       {std::vector<std::string>{"TERM=xterm", "COLORTERM="},
        {"TERM=xterm-256color", "NO_COLOR=1"},
        {"TERM=dumb", "COLORTERM=truecolor"}})
    CHECK(on_terminal(environment).find('\x1b') == std::string::npos);
}

TEST_CASE("export prints what another tool reads") {
  Folder folder;
  CHECK(folder.lay({"export", "(4,2):(1,4)", "--to", "cutedsl", "--name", "a"}).out ==
        "import cutlass.cute as cute\na = cute.make_layout((4, 2), stride=(1, 4))\n");
  CHECK(
      folder.lay({"export", "((4,8),(2,2)):((32,1),(16,8))", "--to", "triton", "--tile", "(16,8)"})
          .out.find("shape=[16, 8]") != std::string::npos);
  CHECK(folder.lay({"export", "(4,2):(1,4)", "--to", "latex"}).out.find("\\begin{tikzpicture}") !=
        std::string::npos);
  CHECK(folder.lay({"export", "(3,2):(1,3)", "--to", "triton"}).code == 1);
  // Tiled copies and multiply-adds as they are: their layouts, on tiles that need not be said.
  put(folder / "tiled.lay",
      "use atoms.sm80\n"
      "let load = tiled_copy(copy_atom(cp_async(16), f16), (16,8):(8,1), (1,8))\n"
      "let M = tiled_mma(mma(16, 16, f16, f32), (2,2,1), (32,32,16))\n");
  const auto tiled = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "export");
    arguments.insert(arguments.end(), {"--file", "tiled.lay"});
    return folder.lay(arguments);
  };
  for (const char* target : {"cute", "cutedsl", "triton", "numpy"}) {
    INFO(target);
    CHECK(tiled({"load", "--to", target}).out ==
          tiled({"load.tv", "--to", target, "--tile", "(16,64)"}).out);
    CHECK(tiled({"M", "--to", target, "--name", "M"}).out ==
          tiled({"layout_A(M)", "--to", target, "--name", "M_A", "--tile", "(32,16)"}).out +
              tiled({"layout_B(M)", "--to", target, "--name", "M_B", "--tile", "(32,16)"}).out +
              tiled({"layout_C(M)", "--to", target, "--name", "M_C", "--tile", "(32,32)"}).out);
  }
  CHECK(tiled({"load", "--to", "triton"}).out.find("shape=[16, 64]") != std::string::npos);
  CHECK(tiled({"M", "--to", "latex"}).error.find("lay show M -o M.tex") != std::string::npos);
  CHECK(folder.lay({"export", "5", "--to", "cute"}).code == 1);
  CHECK(folder.lay({"export", "(4,2):(1,4)", "--to", "fortran"}).code == 2);
  CHECK(folder.lay({"export", "(4,2):(1,4)", "--to", "cute", "--name", "a; b"}).code == 2);
}

TEST_CASE("128 x 128 boxes as SVG take less than 100 ms, and 10^18 no longer") {
  Folder folder;
  for (const std::string layout : {"(128,128):(1,128)", "(1000000000,1000000000):(1,1000000000)"}) {
    check_fast("lay show " + layout + " -o x.svg", 100, 5, [&] {
      return folder.lay({"show", layout, "-o", "x.svg"}).cpu_seconds;
    });
  }
}
