// The prelude: the names of stdlib/prelude.lay and stdlib/tiled.lay, which every script finds. A
// definition is read when its name is first asked for, since a script uses few of them.
//
//   session.prelude().find("zipped_divide")     reads zipped_divide, logical_divide, divide_by, ...
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/sema/session.h"

namespace lay::sema {

class Prelude {
 public:
  explicit Prelude(Session& session);

  // Null where the prelude has no such name.
  const Module::Entry* find(const std::string& name);
  std::vector<std::string> names() const;
  void clear();

 private:
  // A statement that defines one name: it begins a line with `def` or `record`, and ends where the
  // next one begins. No two use each other.
  struct Definition {
    std::string file;
    std::string_view text;
    int line = 1;  // of its first line in the file
    // With the name alone, once it was read.
    std::shared_ptr<Module> module;
  };
  void list(const std::string& library);

  Session& session_;
  std::map<std::string, Definition> definitions_;
};

}  // namespace lay::sema
