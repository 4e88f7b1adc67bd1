// The prelude is read name by name: that is all of it, and each name stands where its file has it.
#include "frontend/sema/prelude.h"

#include <catch2/catch.hpp>

#include "frontend/sema/stdlib.h"
#include "frontend/syntax/parse.h"

using namespace lay;

TEST_CASE("every definition of the prelude is found by its name") {
  Sources sources;
  sema::Session session(sources, {}, {});
  std::vector<std::string> names;
  for (const std::string library : {"prelude", "tiled"}) {
    const auto parsed =
        syntax::parse(sources, sources.add("stdlib/" + library, *sema::stdlib_text(library)));
    REQUIRE(parsed.ok());
    for (const syntax::Statement& statement : parsed.tree->statements) {
      const auto* def = std::get_if<syntax::Def>(&statement.node);
      const auto* record = std::get_if<syntax::Record>(&statement.node);
      REQUIRE((def || record));
      const syntax::Identifier& name = def ? def->name : record->name;
      INFO(name.text);
      names.push_back(name.text);
      const auto* entry = session.prelude().find(name.text);
      REQUIRE((entry && entry->value));
      const Position expected = sources.position(name.span), found = sources.position(entry->where);
      CHECK((found.line == expected.line && found.column == expected.column));
      CHECK(sources.text(entry->where) == name.text);
    }
  }
  std::sort(names.begin(), names.end());
  CHECK(session.prelude().names() == names);
  CHECK(session.prelude().find("no_such_name") == nullptr);
}

TEST_CASE("a name that is read during a claim leaves the claim as it is") {
  Sources sources;
  sema::Session session(sources, {}, {});
  sema::Outcome outer;
  session.outcome = &outer;
  session.claiming = true;
  REQUIRE(session.prelude().find("zipped_divide"));
  CHECK(session.claiming);
  session.outcome = nullptr;
}
