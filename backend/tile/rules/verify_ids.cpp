#include "backend/tile/rules/verify_ids.h"

#include "frontend/algebra/support/overloaded.h"

namespace lay::tile {

namespace {

using sema::IndexId;
using sema::NodeId;

template <class Id, class T>
bool is_id(Id id, const std::vector<T>& list) {
  return id >= 0 && static_cast<std::size_t>(id) < list.size();
}

class IdVerifier {
 public:
  explicit IdVerifier(const Program& program) : program_(program) {}

  std::vector<Problem> run() {
    ids();
    return problems_;
  }

 private:
  const sema::Kernel& kernel() const { return *program_.kernel; }
  const Tile& tile(TileId id) const { return program_.tile(id); }
  static std::string quoted(const std::string& name) { return "`" + name + "`"; }
  std::string name(TileId id) const { return quoted(tile(id).name); }

  void problem(const char* code, std::string message) {
    problems_.push_back({code, std::move(message), ""});
  }

  void ids() {
    const auto id = [&](bool fits, const std::string& what) {
      if (!fits) problem("id", what + " is out of range");
    };
    id(program_.part == -1 || is_id(program_.part, kernel().indices), "the index of the parts");
    for (const Axis& axis : program_.axes) {
      for (const IndexId index : axis.indices)
        id(is_id(index, kernel().indices), "an index of the axis " + quoted(axis.name));
      if (!axis.segments) continue;
      id(is_id(axis.segments->of, kernel().nodes), "the segments of the axis " + quoted(axis.name));
      for (const auto tensor :
           {axis.segments->first, axis.segments->first_tile, axis.segments->stored_at})
        id(tensor == -1 || is_id(tensor, kernel().tensors),
           "a tensor of the segments of the axis " + quoted(axis.name));
    }
    for (const Tile& each : program_.tiles) {
      id(is_id(each.value, kernel().nodes), "the value of the tile " + quoted(each.name));
      id(each.assignment == -1 || is_id(each.assignment, kernel().assignments),
         "the output of the tile " + quoted(each.name));
      for (const AxisId axis : each.axes)
        id(is_id(axis, program_.axes), "an axis of the tile " + quoted(each.name));
    }
    for_each(program_.body, [&](const Stmt& stmt) {
      std::visit(overloaded{
                     [&](const Copy& copy) {
                       id(is_id(copy.dst, program_.tiles), "the destination of a copy");
                       id(is_id(copy.src, program_.tiles), "the source of a copy");
                       for (const Condition& each : copy.where)
                         id(is_id(each.tile, program_.tiles), "a condition of a copy");
                     },
                     [&](const Map& map) { id(is_id(map.out, program_.tiles), "a map's tile"); },
                     [&](const Reduce& reduce) {
                       id(is_id(reduce.out, program_.tiles), "a reduction's tile");
                       id(is_id(reduce.over, program_.axes), "a reduction's axis");
                       if (!is_id(reduce.out, program_.tiles)) return;
                       const NodeId value = tile(reduce.out).value;
                       if (is_id(value, kernel().nodes) && !reduction(value))
                         problem("reduction", name(reduce.out) + " holds no reduction");
                       for (const TileId each : reduce.rescales)
                         id(is_id(each, program_.tiles), "a tile that a reduction rescales");
                     },
                     [&](const Mma& mma) {
                       for (const TileId each : {mma.out, mma.a, mma.b})
                         id(is_id(each, program_.tiles), "a product's tile");
                       id(is_id(mma.over, program_.axes), "a product's axis");
                       if (!is_id(mma.out, program_.tiles)) return;
                       const NodeId value = tile(mma.out).value;
                       if (is_id(value, kernel().nodes) && !reduction(value))
                         problem("product", name(mma.out) + " holds no sum");
                     },
                     [&](const For& loop) { id(is_id(loop.axis, program_.axes), "a loop's axis"); },
                 },
                 stmt.node);
    });
  }

  const sema::Reduce* reduction(NodeId id) const {
    return std::get_if<sema::Reduce>(&kernel().node(id).what);
  }

  const Program& program_;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> verify_ids(const Program& program) {
  return IdVerifier(program).run();
}

}  // namespace lay::tile
