#include "tests/picture/drawn.h"

#include <catch2/catch.hpp>

#include "frontend/sema/evaluator.h"
#include "frontend/source/source.h"

namespace lay::test {

Drawn drawn(const std::string& script, bool for_tex) {
  Drawn result;
  Sources sources;
  sema::Host host;
  host.print = [](const std::string&) {};
  host.show = [&](const picture::Picture& picture) { result.pictures.push_back(picture); };
  sema::Evaluator evaluator(sources, host);
  evaluator.draw_for_tex(for_tex);
  for (const auto& outcome : evaluator.run("script.lay", script))
    for (const Diagnostic& d : outcome.diagnostics.list())
      if (d.severity == Severity::error)
        result.errors += (result.errors.empty() ? "" : " ") + d.code;
  return result;
}

picture::Picture one_picture(const std::string& script) {
  const Drawn result = drawn(script);
  INFO(script << "\n" << result.errors);
  REQUIRE(result.pictures.size() == 1);
  return result.pictures.front();
}

}  // namespace lay::test
