// Pictures as they are: for each tests/picture/golden/NAME.lay the lines of a terminal without
// colours, and where its first line asks for more (`// also: colours svg tex`) those forms.
// LAY_BLESS=1 rewrites them.
#include "tests/golden/golden.h"

#include <catch2/catch.hpp>

#include "frontend/picture/render.h"
#include "runtime/commands/pictures/pictures.h"
#include "tests/picture/drawn.h"

using namespace lay;
using namespace lay::test;

// The README's pictures, by the statements that docs/pictures/README.md gives.
TEST_CASE("the pictures of docs/pictures are what their commands draw now") {
  const std::string folder = (source_root() / "docs/pictures/").string();
  const std::pair<const char*, const char*> pictures[] = {
      {"mma", "use atoms.sm80\nshow mma(16, 16, f16, f32)"}, {"swizzle", "show Sw<3,3,3>"}};
  for (const auto& [name, script] : pictures) {
    const Drawn result = drawn(script);
    CHECK(result.errors.empty());
    check_expected(folder + name + ".svg",
                   runtime::rendered(result.pictures, runtime::PictureForm::svg));
  }
}

TEST_CASE("golden pictures") {
  const auto files = files_in("tests/picture/golden", ".lay");
  CHECK(files.size() > 10);
  for (const auto& file : files) DYNAMIC_SECTION(file.stem().string()) {
      const std::string script = slurp(file), first = script.substr(0, script.find('\n'));
      const Drawn result = drawn(script);
      CHECK(result.errors.empty());
      const auto expected = [&](const char* extension) {
        return std::filesystem::path(file).replace_extension(extension);
      };
      const auto asked = [&](const char* form) { return first.find(form) != std::string::npos; };
      check_expected(expected(".txt"),
                     runtime::rendered(result.pictures, runtime::PictureForm::text,
                                       {picture::Colours::none, 100, false}));
      if (asked("colours")) {
        check_expected(expected(".256"),
                       runtime::rendered(result.pictures, runtime::PictureForm::text,
                                         {picture::Colours::few, 60, true}));
        check_expected(expected(".24bit"),
                       runtime::rendered(result.pictures, runtime::PictureForm::text,
                                         {picture::Colours::all, 60, true}));
      }
      if (asked("svg"))
        check_expected(expected(".svg"),
                       runtime::rendered(result.pictures, runtime::PictureForm::svg));
      if (asked("tex"))
        check_expected(expected(".tex"),
                       runtime::rendered(result.pictures, runtime::PictureForm::tex));
    }
}
