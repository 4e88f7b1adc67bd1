// Writes a C++ source that holds the trees of .lay files, run when Lay is built:
//
//   lay_archive OUT atoms.sm90=stdlib/atoms/sm90.lay ...
//
// The source defines sema::stdlib_archive (frontend/sema/stdlib.h).
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "frontend/source/diagnostic.h"
#include "frontend/source/source.h"
#include "frontend/syntax/archive/archive.h"
#include "frontend/syntax/parse.h"

namespace {

// The bytes as string literals; three octal digits each, so that no digit of the next byte joins.
std::string literals(const std::string& bytes) {
  constexpr std::size_t bytes_a_line = 24;
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % bytes_a_line == 0) text += i == 0 ? "\"" : "\"\n     \"";
    const auto byte = static_cast<unsigned char>(bytes[i]);
    for (const int shift : {6, 3, 0}) {
      if (shift == 6) text += '\\';
      text += static_cast<char>('0' + ((byte >> shift) & 7));
    }
  }
  return text + "\"";
}

// A row {"NAME", bytes} of the table.
std::string row(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  const std::string name = argument.substr(0, equals), path = argument.substr(equals + 1);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  lay::Sources sources;
  const lay::syntax::Parsed parsed = lay::syntax::parse(sources, sources.add(path, text));
  if (!parsed.ok()) throw std::runtime_error(lay::render(sources, parsed.diagnostics));
  const std::string bytes = lay::syntax::archive(*parsed.tree);
  return "    {\"" + name + "\",\n     {" + literals(bytes) + ", " + std::to_string(bytes.size()) +
         "}},\n";
}

void write(const std::string& path, int count, char** arguments) {
  std::ofstream out(path);
  out << "#include <utility>\n\n#include \"frontend/sema/stdlib.h\"\n\nnamespace lay::sema {\n"
         "namespace {\n\n"
         "constexpr std::pair<std::string_view, std::string_view> kTrees[] = {\n";
  for (int i = 0; i < count; ++i) out << row(arguments[i]);
  out << "};\n\n}  // namespace\n\n"
         "std::optional<std::string_view> stdlib_archive(const std::string& name) {\n"
         "  for (const auto& [file, bytes] : kTrees) {\n"
         "    if (file == name) return bytes;\n"
         "  }\n"
         "  return std::nullopt;\n"
         "}\n\n}  // namespace lay::sema\n";
  if (!out.flush()) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw std::runtime_error("expected lay_archive OUT NAME=FILE...");
  write(argv[1], argc - 2, argv + 2);
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
