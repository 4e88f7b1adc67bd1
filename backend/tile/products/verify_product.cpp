#include "backend/tile/products/verify_product.h"

#include "backend/tile/products/product.h"
#include "backend/tile/text/print.h"

namespace lay::tile {

namespace {

class ProductVerifier {
 public:
  explicit ProductVerifier(const Program& program) : program_(program) {}

  std::vector<Problem> run() {
    for (const Axis& axis : program_.axes)
      if (axis.indices.size() != 1)
        problem("axis-index", "the axis `" + axis.name + "` of a product has " +
                                  std::to_string(axis.indices.size()) + " indices");
    for_each(program_.body, [&](const Stmt& stmt) { statement(stmt); });
    return problems_;
  }

 private:
  const Tile& tile(TileId id) const { return program_.tile(id); }

  void problem(const char* code, std::string message) {
    std::string line;
    if (statement_) line = print_first_line(program_, *statement_);
    problems_.push_back({code, std::move(message), std::move(line)});
  }

  void statement(const Stmt& stmt) {
    statement_ = &stmt;
    if (const auto* loop = std::get_if<For>(&stmt.node)) {
      const bool is_summed = loop->axis == summed_axis_of(program_);
      if ((loop->walk == Walk::sequence) != is_summed || loop->walk == Walk::whole)
        problem("nesting", "a product walks its last axis in sequence, the others in the grid");
    } else if (const auto* copy = std::get_if<Copy>(&stmt.node)) {
      stores_ = stores_ || tile(copy->dst).space == Space::global;
    } else if (const auto* map = std::get_if<Map>(&stmt.node)) {
      if (stores_)
        problem("store", "`" + tile(map->out).name + "` is computed after an output is stored");
    } else if (const auto* mma = std::get_if<Mma>(&stmt.node)) {
      if (mma->over != summed_axis_of(program_))
        problem("product",
                "`" + tile(mma->out).name + "` is summed over another axis than the last");
    } else {
      problem("reduction", "a product reduces nothing else");
    }
  }

  const Program& program_;
  const Stmt* statement_ = nullptr;
  bool stores_ = false;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> verify_product(const Program& program) {
  return ProductVerifier(program).run();
}

}  // namespace lay::tile
