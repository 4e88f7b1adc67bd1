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
  // A statement that defines one name: it begins a line with `def` or `record`. No two use each
  // other.
  struct Definition {
    std::string library;
    // With the name alone, once it was read.
    std::shared_ptr<Module> module;
  };
  void list(const std::string& library);
  void read(const std::string& name, Definition& definition);

  Session& session_;
  std::map<std::string, Definition> definitions_;
  // Of the libraries that a name was asked of.
  std::map<std::string, std::shared_ptr<const syntax::Tree>> trees_;
};

}  // namespace lay::sema
