// Positions, escapes, the nearest name, and the form of a message.

#include "frontend/source/source.h"

#include <catch2/catch.hpp>
#include <string>

#include "frontend/source/diagnostic.h"
#include "frontend/source/text.h"

using namespace lay;

TEST_CASE("lines and columns count from one, columns in characters") {
  Sources sources;
  const int file = sources.add("a.lay", "ab\r\n\u2218c\rd");
  CHECK(sources[file].text == "ab\n\u2218c\nd");
  CHECK(sources.position(file, 0).line == 1);
  CHECK(sources.position(file, 1).column == 2);
  CHECK(sources.position(file, 6).line == 2);
  CHECK(sources.position(file, 6).column == 2);
  CHECK(sources.position(file, 8).line == 3);
  CHECK(sources.position(file, 9).column == 2);
  CHECK(sources.text({file, 3, 6}) == "\u2218");
  const int later = sources.add("<input>", "x", 7);
  CHECK(sources.position(later, 0).line == 7);
  CHECK(sources.position(Span{}).line == 0);
}

TEST_CASE("a message in the form of the language reference") {
  Sources sources;
  const std::string line = "let r = (6,2):(1,7) o (3,2):(2,3)";
  const int file = sources.add("tiles.lay", "\n\n\n" + line + "\n");
  Diagnostic d;
  d.code = "composition-carry";
  d.message = "this composition is not a layout";
  d.primary = {file, 11, 22};
  d.labels = {{{file, 25, 36}, "mode 1 steps by 3 and carries out of mode 0 of the left side"}};
  d.notes = {{"at", "5, coordinate (2,1): the right side gives 7"},
             {"works", "the left side as 12:1"}};
  CHECK(render(sources, d) ==
        "error[composition-carry]: this composition is not a layout\n"
        "  --> tiles.lay:4:9\n"
        "   |\n"
        " 4 | let r = (6,2):(1,7) o (3,2):(2,3)\n"
        "   |         ^^^^^^^^^^^   ----------- mode 1 steps by 3 and carries out of mode 0 of the "
        "left side\n"
        "   |\n"
        "   = at 5, coordinate (2,1): the right side gives 7\n"
        "   = works: the left side as 12:1\n");
  const std::string coloured = render(sources, d, Colour::always);
  CHECK(coloured.find("\x1b[1;31merror[composition-carry]\x1b[0m") == 0);
}

TEST_CASE("nothing that is printed can move the cursor or the text") {
  Sources sources;
  const int file = sources.add("\x1b[2J.lay", "let a = \"\x1b[31m\u202e\" \t x\x01");
  Diagnostic d;
  d.code = "x";
  d.message = "a \x1b]0;title\x07 b";
  d.primary = {file, 4, 5};
  d.labels = {{{file, 22, 23}, "\x9b"}};
  const std::string text = render(sources, d);
  for (const char c : text) CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
  CHECK(text.find("\\x1b[2J.lay") != std::string::npos);
  CHECK(text.find("\u202e") == std::string::npos);
  CHECK(escaped("\xff\xc3\xa9\x7f") == "\\xff\xc3\xa9\\x7f");
}

TEST_CASE("spans at the end of the text, beyond a line, in other files and in long lines") {
  Sources sources;
  const int file = sources.add("a.lay", "one\ntwo"), empty = sources.add("b.lay", "");
  const int wide = sources.add("c.lay", std::string(100000, 'x') + "y" + std::string(100000, 'z'));
  Diagnostic d;
  d.code = "x";
  d.message = "m";
  for (const Span& span : {Span{file, 7, 7}, Span{file, 1, 6}, Span{file, 3, 4},
                           Span{file, 100, 200}, Span{empty, 0, 0}, Span{empty, 0, 1},
                           Span{wide, 100000, 100001}, Span{wide, 0, 200001}, Span{}}) {
    d.primary = span;
    d.labels = {{{file, 0, 3}, "first"}, {{empty, 0, 0}, "second"}, {span, "third"}};
    const std::string text = render(sources, d);
    CHECK(text.size() < 2000);
    CHECK(text.find("error[x]: m\n") == 0);
  }
}

TEST_CASE("the nearest known name is the one that was meant") {
  const std::vector<std::string> known = {"coalesce", "composition", "complement",
                                          "size",     "rank",        "let"};
  CHECK(nearest("coalsece", known) == "coalesce");
  CHECK(nearest("compositon", known) == "composition");
  CHECK(nearest("sise", known) == "size");
  CHECK(nearest("lte", known) == "let");
  CHECK_FALSE(nearest("x", known));
  CHECK_FALSE(nearest("banana", known));
  CHECK_FALSE(nearest(std::string(1000000, 'a'), known));
}

TEST_CASE("errors beyond the cap are counted, not kept") {
  Diagnostics list(3);
  for (int i = 0; i < 10; ++i) list.add(Diagnostic{"x", "m", {}, {}, {}, {}});
  CHECK(list.list().size() == 3);
  CHECK(list.errors() == 10);
  CHECK(list.dropped() == 7);
  Sources sources;
  CHECK(render(sources, list).find("and 7 more errors") != std::string::npos);
}
