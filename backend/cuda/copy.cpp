#include "backend/cuda/emitter.h"

namespace lay::cuda {
namespace {

constexpr std::string_view members = "xyzw";

}  // namespace

void Emitter::copy(const ir::Copy& copy, int line) {
  std::visit([&](const auto& how) { this->copy(copy, how, line); }, copy.how);
}

void Emitter::copy(const ir::Copy& copy, const ir::PlainCopy& how, int line) {
  const auto in_registers = [&](const ir::Ref& ref) {
    return buffer(ref.buffer).space == ir::Space::registers;
  };
  if (how.vector.count == 1 || (in_registers(copy.dst) && in_registers(copy.src)))
    return copy_elements(copy, how, line);
  copy_vector(copy, how, line);
}

Code Emitter::shifted_offset(const ir::Ref& ref, int mode, std::int64_t by) {
  std::vector<Code> at = coordinate(ref);
  auto& along = at.at(static_cast<std::size_t>(mode));
  along = sum(along, integer(by));
  return offset(ref.buffer, at);
}

void Emitter::copy_elements(const ir::Copy& copy, const ir::PlainCopy& how, int line) {
  const ElementType from = buffer(copy.src.buffer).element, to = buffer(copy.dst.buffer).element;
  for (int i = 0; i < how.vector.count; ++i) {
    const Code target = shifted_offset(copy.dst, how.vector.dst_mode, i);
    const auto value =
        converted(value_at(copy.src.buffer, shifted_offset(copy.src, how.vector.src_mode, i)), from,
                  to, helpers_);
    const auto stored = [&](const std::string& what) {
      return assignment(copy.dst.buffer, target, what) + ";";
    };
    if (!value)
      unsupported("a copy from " + std::string(element_name(from)) + " to " +
                  std::string(element_name(to)));
    if (!how.guard.predicate) {
      out_.line(stored(value->text), line);
    } else if (how.guard.zero_fill) {
      const std::string zero = to == ElementType::f32   ? "0.0f"
                               : to == ElementType::f64 ? "0.0"
                                                        : "0";
      out_.line(stored(inside(expression(how.guard.predicate), Binding::logical_or) + " ? " +
                       value->text + " : " + zero),
                line);
    } else {
      out_.line("if (" + expression(how.guard.predicate).text + ") " + stored(value->text), line);
    }
  }
}

// Returns true if the access is one vector: in registers, `count` adjacent elements that begin at a
// multiple of `count` (in memory the verifier has proved it).
bool Emitter::is_vector_access(const ir::Ref& ref, int mode, int count) const {
  const ir::Buffer& of = buffer(ref.buffer);
  if (of.space != ir::Space::registers) return true;
  const auto* layout = std::get_if<Layout>(&of.layout);
  if (!layout) return false;
  for (int i = 0; i < layout->rank(); ++i) {
    const std::vector<Leaf> leaves = leaves_of((*layout)[i]);
    const std::int64_t start = multiple_of(ref.coordinate.at(static_cast<std::size_t>(i)));
    if (i == mode) {
      const bool fits = leaves.size() == 1 ||
                        (leaves[0].extent.is_literal() && leaves[0].extent.value() % count == 0);
      if (!leaves[0].stride.is(1) || !fits || start % count != 0) return false;
      for (std::size_t leaf = 1; leaf < leaves.size(); ++leaf)
        if (!leaves[leaf].stride.is_literal() || leaves[leaf].stride.value() % count != 0)
          return false;
    } else {
      for (const Leaf& leaf : leaves) {
        if (!leaf.stride.is_literal()) return false;
        const bool steps =
            leaves.size() == 1 && (start == 0 || leaf.stride.value() * start % count == 0);
        if (!steps && leaf.stride.value() % count != 0) return false;
      }
    }
  }
  return true;
}

std::string Emitter::vector_access(const ir::Ref& ref, const VectorType& vector, bool is_const) {
  if (buffer(ref.buffer).space == ir::Space::registers) vectors_.insert(ref.buffer.index);
  return "*(" + std::string(is_const ? "const " : "") + std::string(vector.name) + "*)&" +
         first_element(ref).text;
}

// One load and one store of a vector type. Without zero fill the whole copy is under the predicate.
void Emitter::copy_vector(const ir::Copy& copy, const ir::PlainCopy& how, int line) {
  const ElementType type = buffer(copy.src.buffer).element;
  if (type != buffer(copy.dst.buffer).element)
    unsupported("a copy of several elements between types");
  const int wide = how.vector.count * bits(type);
  const auto vector = vector_type(type, wide / 8);
  if (!vector || wide % 8 != 0)
    unsupported("a copy of " + std::to_string(how.vector.count) + " elements of " +
                std::string(element_name(type)));
  const bool guarded = how.guard.predicate && !how.guard.zero_fill;
  if (guarded) out_.open("if (" + expression(how.guard.predicate).text + ") {", line);
  move_vector(copy, how, *vector, guarded ? 0 : line);
  if (guarded) out_.close();
}

void Emitter::move_vector(const ir::Copy& copy, const ir::PlainCopy& how, const VectorType& vector,
                          int line) {
  const bool selects = how.guard.predicate && how.guard.zero_fill;
  const std::string condition =
      selects ? inside(expression(how.guard.predicate), Binding::logical_or) + " ? " : "";
  const std::string otherwise = selects ? " : " + std::string(vector.zero) : "";
  const bool from_side_by_side = is_vector_access(copy.src, how.vector.src_mode, how.vector.count);
  const bool to_side_by_side = is_vector_access(copy.dst, how.vector.dst_mode, how.vector.count);
  const auto loaded = [&] { return condition + vector_access(copy.src, vector, true) + otherwise; };
  if (from_side_by_side && to_side_by_side) {
    out_.line(vector_access(copy.dst, vector, false) + " = " + loaded() + ";", line);
    return;
  }
  // Registers whose elements do not lie side by side go through a vector of their own.
  if (bits(vector.member) != bits(buffer(copy.src.buffer).element))
    unsupported("a copy of narrow elements that do not lie side by side in registers");
  const bool single = how.vector.count == 1;
  const auto member = [&](int i) {
    return single ? std::string("vector")
                  : "vector." + std::string(1, members[static_cast<std::size_t>(i)]);
  };
  out_.open("{", line);
  if (from_side_by_side) {
    out_.line("const " + std::string(vector.name) + " vector = " + loaded() + ";");
    for (int i = 0; i < how.vector.count; ++i)
      out_.line(
          assignment(copy.dst.buffer, shifted_offset(copy.dst, how.vector.dst_mode, i), member(i)) +
          ";");
  } else {
    out_.line(std::string(vector.name) + " vector;");
    for (int i = 0; i < how.vector.count; ++i)
      out_.line(member(i) + " = " +
                place_at(copy.src.buffer, shifted_offset(copy.src, how.vector.src_mode, i)).text +
                ";");
    out_.line(vector_access(copy.dst, vector, false) + " = " +
              (selects ? condition + "vector" + otherwise : "vector") + ";");
  }
  out_.close();
}

// With a size of what is read, bytes beyond it are written as zeros, so a false predicate with zero
// fill is a size of 0. The source address is then not read, but it must be one: the buffer's base.
void Emitter::copy(const ir::Copy& copy, const ir::AsyncCopy& how, int line) {
  const ElementType type = buffer(copy.src.buffer).element;
  const int bytes = how.vector.count * bits(type) / 8;
  const std::string size = std::to_string(bytes);
  const std::string to = "&" + first_element(copy.dst).text,
                    from = "&" + place_at(copy.src.buffer, offset(copy.src)).text;
  const std::string start = async_function(how.atom) + "(" + to + ", ";
  if (!how.guard.predicate) return out_.line(start + from + ", " + size + ");", line);
  const std::string predicate = expression(how.guard.predicate).text;
  if (!how.guard.zero_fill)
    return out_.line("if (" + predicate + ") " + start + from + ", " + size + ");", line);
  out_.open("{", line);
  out_.line("const bool inside = " + predicate + ";");
  const std::string pointer = "const " + std::string(memory_name(buffer(copy.src.buffer))) + "*";
  out_.line(pointer + " const from = inside ? " + from + " : " + buffer_name(copy.src.buffer) +
            ";");
  out_.line(start + "from, inside ? " + size + " : 0);");
  out_.close();
}

}  // namespace lay::cuda
