#include <unistd.h>

#include <iostream>

#include "frontend/export/export.h"
#include "frontend/sema/show/export.h"
#include "runtime/commands/commands.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/expression_query.h"
#include "runtime/commands/pictures/pictures.h"
#include "runtime/commands/report.h"
#include "runtime/io/file.h"

namespace lay::runtime {

int show_expression(const ShowOptions& options) {
  const PictureForm form = !options.to.empty()
                               ? picture_form(options.to).value_or(PictureForm::text)
                           : !options.output.empty() ? form_of_file(options.output)
                                                     : PictureForm::text;
  std::vector<picture::Picture> pictures;
  ExpressionQuery query({options.file, options.set, form == PictureForm::tex},
                        [&](const picture::Picture& picture) { pictures.push_back(picture); });
  query.run("show " + options.expression + (options.all ? ", all = true" : ""));
  if (query.code() != exit_ok || pictures.empty()) return query.code();
  if (options.output.empty())
    std::cout << rendered(pictures, form, text_options(STDOUT_FILENO));
  else
    write_file(options.output, {rendered(pictures, form)});
  return exit_ok;
}

int export_expression(const ExportOptions& options) {
  ExpressionQuery query({options.file, options.set}, {});
  const auto outcomes = query.run(options.expression);
  std::optional<Tuple> tile;
  if (!options.tile.empty()) {
    const auto of_tile = query.run(options.tile);
    if (query.code() != exit_ok || of_tile.empty()) return query.code();
    const auto* t = of_tile.back().value ? of_tile.back().value->as<Tuple>() : nullptr;
    if (!t) {
      Diagnostic d;
      d.code = "operand-kind";
      d.message = "a tile is a shape such as (16,8), not " + options.tile;
      throw DiagnosticError(d);
    }
    tile = *t;
  }
  if (query.code() != exit_ok || outcomes.empty()) return query.code();
  Diagnostic d;
  d.code = "export";
  d.message = std::string("expected ") + sema::kExportable;
  try {
    const auto& value = outcomes.back().value;
    const std::string text =
        value ? query.exported(*value, options.name, options.to, tile) : std::string();
    if (text.empty()) throw DiagnosticError(d);
    std::cout << text;
  } catch (const Refusal& refusal) {
    d.code = refusal.code;
    d.message = refusal.message;
    if (!refusal.help.empty()) d.notes.push_back({"help", refusal.help});
    throw DiagnosticError(d);
  }
  return exit_ok;
}

}  // namespace lay::runtime
