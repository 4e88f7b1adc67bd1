// The effect of each statement on the names of its file. Internal to this folder.
#pragma once

#include <memory>
#include <string>

#include "frontend/sema/session.h"

namespace lay::sema {

// Evaluates one statement with the names of `module`, before which `locals` are looked at;
// everything that goes wrong ends up in the outcome.
Outcome evaluate_statement(Session& session, const std::shared_ptr<Module>& module,
                           const std::shared_ptr<const syntax::Tree>& tree,
                           const syntax::Statement& statement, const Bindings& locals = {});

// `use`: the names of a library or file, as a record under its own name and each by itself
// (use.cpp).
void use_library(Session& session, Module& module, const syntax::Use& use, Span where);

// The kernel statement and schedules given later (kernel_statement.cpp).
void define_kernel(Session& session, const std::shared_ptr<Module>& module, const Closure& closure,
                   const syntax::Kernel& kernel, Span where);
void add_schedule(Session& session, const std::shared_ptr<Module>& module, const Closure& closure,
                  const syntax::Schedule& schedule, Span where);
void add_sizes(Session& session, const std::shared_ptr<Module>& module, const Closure& closure,
               const syntax::Sizes& sizes, Span where);

// Returns what `print` writes of the values, with their guards as a comment.
std::string print_text(const Session& session, const std::vector<Value>& values);
Value settle(const Session& session, const Value& value);

}  // namespace lay::sema
