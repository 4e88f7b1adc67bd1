#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "frontend/picture/picture.h"
#include "frontend/sema/evaluator.h"
#include "runtime/commands.h"
#include "runtime/executor.h"
#include "runtime/exit_code.h"
#include "runtime/file.h"
#include "runtime/host.h"
#include "runtime/pictures.h"
#include "runtime/report.h"
#include "runtime/script.h"

namespace lay::runtime {
namespace {

// Evaluates a file's statements, then one statement more.
class Asker {
 public:
  Asker(const std::string& file, const std::map<std::string, std::string>& set, std::function<void(sema::Host&)> listen)
      : evaluator_(sources_, host(file, std::move(listen)), {sema::Mode::run, sizes_of(set)}) {
    // A size that is given is a dim, also where no statement says so.
    for (const auto& [name, number] : set) run("--set", "dim " + name);
    if (!file.empty()) run(file, read_file(file, most_script_bytes));
  }

  std::vector<sema::Outcome> run(const std::string& name, const std::string& text) {
    auto outcomes = evaluator_.run(name, text);
    report(sources_, outcomes);
    code_ = std::max(code_, exit_code_of(outcomes));
    return outcomes;
  }
  ExitCode code() const { return code_; }

 private:
  sema::Host host(const std::string& file, std::function<void(sema::Host&)> listen) {
    const auto call = [this](const sema::KernelCall& c) { return executor_.run(c); };
    sema::Host result = make_host([](const std::string&) {}, call, file.empty() ? "." : folder_of(file));
    listen(result);
    return result;
  }

  Sources sources_;
  Executor executor_{sources_};
  sema::Evaluator evaluator_;
  ExitCode code_ = exit_ok;
};

}  // namespace

int show_expression(const ShowOptions& options) {
  const PictureForm form = !options.to.empty()       ? picture_form(options.to).value_or(PictureForm::text)
                           : !options.output.empty() ? form_of_file(options.output)
                                                     : PictureForm::text;
  std::vector<picture::Picture> pictures;
  bool listening = false;
  Asker asker(options.file, options.set, [&](sema::Host& host) {
    host.show = [&](const picture::Picture& picture) {
      if (listening) pictures.push_back(picture);
    };
  });
  listening = true;
  asker.run("<expression>", "show " + options.expression);
  if (asker.code() != exit_ok || pictures.empty()) return asker.code();
  if (options.output.empty())
    std::cout << rendered(pictures, form, text_options(STDOUT_FILENO));
  else
    write_file(options.output, {rendered(pictures, form)});
  return exit_ok;
}

}  // namespace lay::runtime
