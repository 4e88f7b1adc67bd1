#pragma once
// Text -> tree. The grammar is grammar/LayParser.g4; only the sources of this folder see the
// generated parser.
//
//   Parsed parsed = parse(sources, sources.add("tiles.lay", text));
//   if (!parsed.ok()) std::cerr << render(sources, parsed.diagnostics);
//
// Any bytes are accepted and end in a tree or in diagnostics, in time linear in the text. Errors do
// not hide each other: after one, parsing goes on at the next statement, entry or field; a
// statement with an error is left out of the tree.

#include <cstddef>
#include <memory>
#include <string_view>

#include "frontend/source/diagnostic.h"
#include "frontend/source/source.h"
#include "frontend/syntax/tree.h"

namespace lay::syntax {

struct Limits {
  std::size_t bytes = std::size_t{4}
                      << 20;    // of one file                        else source-too-large
  std::size_t words = 2500000;  // of one file                        else source-too-large
  // ( [ < { inside one another         else nesting-too-deep.
  int brackets = 256;
  int height = 1000;        // of an expression's tree            else nesting-too-deep
  std::size_t errors = 50;  // reported in one run
};

struct Parsed {
  std::shared_ptr<const Tree> tree;  // never null
  Diagnostics diagnostics;

  bool ok() const { return diagnostics.ok(); }
};

Parsed parse(const Sources& sources, int file, const Limits& limits = {});

// Returns true if a REPL should read another line before it parses: a bracket is open, or the last
// word demands more (an infix operator, `=`, `,`, `->`, `then`, `else`). Text that cannot become
// right by going on needs no more.
bool needs_more(std::string_view text);

}  // namespace lay::syntax
