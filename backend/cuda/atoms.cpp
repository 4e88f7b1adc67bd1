// Multiplications and copies by an atom: what its record says, with operands in it.
#include <algorithm>

#include "backend/cuda/descriptor.h"
#include "backend/cuda/emitter.h"
#include "backend/ir/walk.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::cuda {
namespace {

// "=" or "+" and the class of registers that holds the type.
std::string_view accumulator_constraint(ElementType type) {
  if (type == ElementType::f32) return "+f";
  if (type == ElementType::f64) return "+d";
  return type == ElementType::s32 ? "+r" : "";
}

// Returns true for words of instructions alone. Where there may be several, behind semicolons,
// registers of operands stand in braces, and nothing else does: {$a0, $a4}.
bool harmless(std::string instruction, bool may_be_several) {
  constexpr std::string_view of_registers = "$ab0123456789, ";
  for (std::size_t at = 0;
       may_be_several && (at = instruction.find('{', at)) != std::string::npos;) {
    const std::size_t end = instruction.find_first_not_of(of_registers, at + 1);
    if (end == std::string::npos || instruction[end] != '}') return false;
    instruction.erase(at, end + 1 - at);
  }
  return std::all_of(instruction.begin(), instruction.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(" .,:$_-").find(c) != std::string_view::npos ||
           (c == ';' && may_be_several);
  });
}

// Returns true for one instruction, whose addresses stand in brackets. Braces hold coordinates or
// offsets, nothing else.
bool is_copy_instruction(std::string instruction) {
  for (const std::string list : {"{$coordinates}", "{$offsets}"})
    if (const std::size_t at = instruction.find(list); at != std::string::npos)
      instruction.erase(at, list.size());
  return std::ranges::all_of(instruction, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(" .,:$_-[]").find(c) != std::string_view::npos;
  });
}

void replace(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

// "{%3, %4, %5}"
std::string numbered(int first, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i ? ", %" : "%") + std::to_string(first + i);
  return text + "}";
}

int values_of(const Layout& threads_values) {
  return static_cast<int>(size(threads_values.shape[1]).value());
}

// An operand's registers, of 32 bits or, for f64, of 64: how C++ and the constraint of an asm
// statement name them.
struct OperandRegisters {
  int count;
  std::string_view type, constraint;
};
OperandRegisters registers_of(const Layout& threads_values, ElementType type) {
  const int all = values_of(threads_values) * bits(type);
  if (type == ElementType::f64) return {all / 64, "double", "d"};
  return {std::max(1, all / 32), "unsigned", "r"};
}

constexpr int field_bytes = 16;  // of a matrix descriptor

// A layout whose strides are 1 or multiples of the unit, and whose mode of stride 1 has whole
// units, in units.
Layout in_units(const Layout& layout, std::int64_t unit) {
  const auto counted = [&](const auto& self, const Tuple& shape,
                           const Tuple& stride) -> std::pair<Tuple, Tuple> {
    if (shape.is_tuple()) {
      std::vector<Tuple> shapes, strides;
      for (int i = 0; i < shape.rank(); ++i) {
        auto [one, step] = self(self, shape[i], stride[i]);
        shapes.push_back(std::move(one));
        strides.push_back(std::move(step));
      }
      return {Tuple(shapes), Tuple(strides)};
    }
    if (stride.value().is(1)) return {Tuple(shape.value().value() / unit), stride};
    return {shape, Tuple(stride.value().value() / unit)};
  };
  const auto [shape, stride] = counted(counted, layout.shape, layout.stride);
  return Layout(shape, stride);
}

}  // namespace

// Two 16-bit elements, or four of 8 bits, in one register.
std::string Emitter::pair_register(const ir::Ref& ref, int mode, int pair) {
  const ir::Buffer& of = buffer(ref.buffer);
  const int elements = 32 / bits(of.element);
  vectors_.insert(ref.buffer.index);
  return "*(unsigned*)&" +
         place_at(ref.buffer, shifted_offset(ref, mode, std::int64_t{pair} * elements)).text;
}

const ir::CopyAtom& Emitter::copy_atom(const std::string& name) const {
  const ir::CopyAtom* atom = ir::copy_atom(kernel_, name);
  if (!atom || atom->instruction.empty() || !is_copy_instruction(atom->instruction))
    unsupported("the copy " + comment_text(name) + ", which has no PTX instruction,");
  return *atom;
}

// The function of an atom of one thread, which is written once for each instruction: cp_async_16,
// and cp_async_16_2 for another instruction that copies as many bytes.
std::string Emitter::async_function(const std::string& name) {
  const ir::CopyAtom& atom = copy_atom(name);
  const int bytes = static_cast<int>(size(atom.source.shape).value() / 8);
  std::string text = atom.instruction;
  if (text.find("$bytes") == std::string::npos)
    unsupported("the copy " + comment_text(name) + ", which does not say how much is read,");
  replace(text, "$bytes", "%2");
  replace(text, "$from", "%1");
  replace(text, "$to", "%0");
  const std::string body =
      "(void* to, const void* from, int bytes) {\n  asm volatile(\"" + text +
      ";\"\n               : : \"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from), "
      "\"r\"(bytes) : \"memory\");\n}\n";
  for (int number = 1;; ++number) {
    const std::string function =
        "cp_async_" + std::to_string(bytes) + (number > 1 ? "_" + std::to_string(number) : "");
    const std::string definition = "// " + comment_text(name) +
                                   "; only `bytes` of them are read, the rest is zero.\n"
                                   "static __device__ __forceinline__ void " +
                                   function + body;
    const auto [known, is_new] = helpers_.copies.emplace(std::pair(bytes, number), definition);
    if (is_new || known->second == definition) return function;
  }
}

// A copy of a warp moves registers of 32 bits, each of which holds neighbouring elements: two of 16
// bits, one of 32 bits.
void Emitter::copy(const ir::Copy& copy, const ir::WarpCopy& how, int line) {
  const ir::CopyAtom& atom = copy_atom(how.atom);
  const bool load = atom.from == ir::Space::shared;
  const ir::Ref &memory = load ? copy.src : copy.dst, &held = load ? copy.dst : copy.src;
  const int mode = load ? how.vector.dst_mode : how.vector.src_mode,
            width = bits(buffer(held.buffer).element), together = 32 / std::max(1, width);
  if (together < 1 || how.vector.count % together != 0)
    unsupported("a copy by a warp of elements of " + std::to_string(width) + " bits");
  if (!is_vector_access(held, mode, together))
    unsupported("a copy by a warp whose registers are not contiguous");
  need("shared_address");
  const int registers = how.vector.count / together;
  const std::string address = "\"r\"(shared_address(&" + first_element(memory).text + "))";
  std::string values, text = atom.instruction;
  for (int i = 0; i < registers; ++i)
    values += (i ? ", " : "") + std::string(load ? "\"=r\"(" : "\"r\"(") +
              pair_register(held, mode, i) + ")";
  // Operands of asm are numbered from its outputs on.
  replace(text, load ? "$to" : "$from", numbered(load ? 0 : 1, registers));
  replace(text, load ? "$from" : "$to", "%" + std::to_string(load ? registers : 0));
  out_.line("asm volatile(\"" + text + ";\"", line);
  out_.line(load ? "             : " + values + " : " + address + " : \"memory\");"
                 : "             :: " + address + ", " + values + " : \"memory\");");
}

// The instruction of the copy's atom. Its operands are numbered in the order in which the text
// names them, the one that stands first 0.
void Emitter::box(const std::string& atom, int tensor_map, const ir::Ref& tensor,
                  const ir::Ref& shared, const ir::TmaLoad* load, int line) {
  const ir::TensorMap& map = kernel_.tensor_maps[static_cast<std::size_t>(tensor_map)];
  need("shared_address");
  using Operands = std::vector<std::string>;
  const auto integer_of = [&](ir::ExprId value) {
    return "\"h\"((unsigned short)(" + expression(value).text + "))";
  };
  std::vector<std::pair<std::string, Operands>> known{
      {load ? "$to" : "$from", {"\"r\"(shared_address(" + plain_address(shared) + "))"}},
      {"$map", {"\"l\"(&" + map_names_[static_cast<std::size_t>(tensor_map)] + ")"}},
      {"$coordinates", {}}};
  for (const int mode : map.order)
    known.back().second.push_back(
        "\"r\"(" + expression(tensor.coordinate[static_cast<std::size_t>(mode)]).text + ")");
  if (load) {
    const ir::MbarrierSlot& at = load->completion;
    known.push_back({"$barrier", {"\"r\"(" + barrier_at(at.barrier, at.slot) + ")"}});
    known.push_back({"$offsets", {}});
    for (const ir::ExprId offset : load->offsets) known.back().second.push_back(integer_of(offset));
    if (load->multicast) known.push_back({"$mask", {integer_of(load->multicast)}});
  }
  std::string text = copy_atom(atom).instruction, operands;
  std::ranges::sort(known, {}, [&](const auto& each) { return text.find(each.first); });
  int next = 0;
  for (const auto& [name, values] : known) {
    if (text.find(name) == std::string::npos) continue;
    std::string numbers;
    for (const std::string& value : values) {
      numbers += (numbers.empty() ? "%" : ", %") + std::to_string(next++);
      operands += (operands.empty() ? "" : ", ") + value;
    }
    replace(text, name, numbers);
  }
  out_.line("asm volatile(\"" + text + ";\"", line);
  out_.line("             :: " + operands + " : \"memory\");");
}

void Emitter::copy(const ir::Copy& copy, const ir::TmaLoad& how, int line) {
  box(how.atom, how.tensor_map, copy.src, copy.dst, &how, line);
}

void Emitter::copy(const ir::Copy& copy, const ir::TmaStore& how, int line) {
  box(how.atom, how.tensor_map, copy.dst, copy.src, nullptr, line);
}

// The registers that wgmma adds to, anywhere in the kernel.
std::set<int> Emitter::accumulators_of_wgmma() const {
  std::set<int> held;
  ir::for_each_statement(kernel_, [&](const ir::Stmt& stmt) {
    const auto* mma = std::get_if<ir::Mma>(&stmt.node);
    if (mma && mma->kind == ir::MmaKind::wgmma) held.insert(mma->d.buffer.index);
  });
  return held;
}

// The compiler may not move what it does with accumulators across this place.
void Emitter::hold_accumulators(int line) {
  for (const int index : held_) {
    const ir::Buffer& of = kernel_.buffers[static_cast<std::size_t>(index)];
    const auto extent = extent_in_elements(of.layout);
    const std::string_view constraint = accumulator_constraint(of.element);
    if (!extent || constraint.empty()) unsupported("the accumulators " + comment_text(of.name));
    out_.line("#pragma unroll", line);
    out_.line("for (int i = 0; i < " + std::to_string(*extent) + "; ++i) asm volatile(\"\" : \"" +
                  std::string(constraint) + "\"(" + buffer_names_[static_cast<std::size_t>(index)] +
                  "[i]) :: \"memory\");",
              line);
  }
}

std::string Emitter::descriptor(const ir::Ref& ref, bool takes_transposed) {
  const ir::Buffer& of = buffer(ref.buffer);
  const auto found = descriptor_of(of.layout, bits(of.element));
  const int row = found ? found->span * 8 / bits(of.element) : 1;
  // The tile starts with a whole group of 8 rows.
  const bool starts = found && multiple_of(ref.coordinate[0]) % (found->along_k ? 8 : row) == 0 &&
                      (found->along_k || multiple_of(ref.coordinate[1]) % 8 == 0) &&
                      of.alignment >= found->stride;
  if (!starts || (!found->along_k && !takes_transposed)) {
    unsupported("the layout of " + comment_text(of.name) + ", " +
                comment_text(to_string(of.layout)) +
                ", as operand of wgmma: rows of one swizzle width each, in groups of 8,");
  }
  need("matrix_descriptor");
  need("matrix_start");
  need("kept");
  auto& start = starts_[ref.buffer.index];
  if (start.empty()) start = names_.add(of.name + "_start");
  const auto unit = field_bytes * 8 / bits(of.element);
  std::vector<Code> at = coordinate(ref);
  Code& along_row = at[found->along_k ? 1 : 0];
  along_row = quotient(along_row, integer(unit));
  const Code units =
      *offset_code(in_units(std::get<Composed>(of.layout).layout(), unit), at, false, sizes_);
  return "matrix_descriptor(" + sum(name(start), units).text + ", " +
         std::to_string(found->stride) + ", " + std::to_string(found->swizzle_field()) + ")";
}

// A function of the atom's instruction: accumulators, operands, and for wgmma whether d is added
// to.
std::string Emitter::atom_function(const ir::MmaAtom& atom, const ir::Mma& mma) {
  const bool wgmma = mma.kind == ir::MmaKind::wgmma;
  if (atom.instruction.empty() || !harmless(atom.instruction, !wgmma)) {
    unsupported("the atom " + comment_text(atom.name) + ", which has no PTX instruction,");
  }
  const ElementType d_type = buffer(mma.d.buffer).element;
  const std::string_view constraint = accumulator_constraint(d_type);
  if (constraint.empty()) unsupported("accumulators of " + std::string(element_name(d_type)));
  const int d_count = values_of(atom.d);
  int next = d_count;
  std::string parameters = std::string(type_name(d_type)) + "* d", inputs, text = atom.instruction;
  const auto operand = [&](const char* placeholder, const std::optional<Layout>& layout,
                           const ir::Ref& ref) {
    const std::string letter(1, placeholder[1]);
    if (layout) {
      const OperandRegisters held = registers_of(*layout, buffer(ref.buffer).element);
      // An instruction of several names registers: $a11 before $a1.
      for (int i = held.count; i-- > 0;)
        replace(text, placeholder + std::to_string(i), "%" + std::to_string(next + i));
      replace(text, placeholder, numbered(next, held.count));
      for (int i = 0; i < held.count; ++i) {
        inputs += (inputs.empty() ? "\"" : ", \"") + std::string(held.constraint) + "\"(" + letter +
                  "[" + std::to_string(i) + "])";
      }
      parameters += ", const " + std::string(held.type) + "* " + letter;
      next += held.count;
    } else {
      const auto tile = descriptor_of(buffer(ref.buffer).layout, bits(buffer(ref.buffer).element));
      replace(text, "$trans_" + letter, tile && !tile->along_k ? "1" : "0");
      replace(text, placeholder, "%" + std::to_string(next++));
      inputs += (inputs.empty() ? "" : ", ") + ("\"l\"(" + letter) + ")";
      parameters += ", unsigned long long " + letter;
    }
  };
  operand("$a", atom.a, mma.a);
  operand("$b", atom.b, mma.b);
  replace(text, "$d", numbered(0, d_count));
  if (wgmma) {
    replace(text, "$scale", "p");
    text = "{ .reg .pred p; setp.ne.b32 p, %" + std::to_string(next) + ", 0; " + text + "; }";
    inputs += ", \"r\"(scale)";
    parameters += ", int scale";
  } else {
    text += ";";
  }
  const std::string name = "multiply_" + std::to_string(helpers_.atoms.size() + 1);
  std::string body = "// " + comment_text(atom.name) + "\nstatic __device__ __forceinline__ void " +
                     name + "(" + parameters + ") {\n  asm volatile(\"" + text +
                     "\"\n               : ";
  for (int i = 0; i < d_count; ++i) {
    body += (i == 0       ? ""
             : i % 8 == 0 ? ",\n                 "
                          : ", ") +
            ("\"" + std::string(constraint)) + "\"(d[" + std::to_string(i) + "])";
  }
  body += "\n               : " + inputs + ");\n}\n";
  const auto what_it_does = [](const std::string& of) {
    return of.substr(of.find('(', of.find('\n')));
  };
  for (const auto& [known, definition] : helpers_.atoms) {
    if (what_it_does(definition) == what_it_does(body)) return known;
  }
  helpers_.atoms.emplace(name, body);
  return name;
}

void Emitter::multiply_atom(const ir::Mma& mma, int line) {
  const auto atom = std::find_if(kernel_.atoms.begin(), kernel_.atoms.end(),
                                 [&](const ir::MmaAtom& each) { return each.name == mma.atom; });
  if (atom == kernel_.atoms.end()) unsupported("the mma atom " + comment_text(mma.atom));
  const std::string function = atom_function(*atom, mma);
  const auto first = [&](const ir::Ref& ref) {
    std::vector<Code> at{integer(0)};
    for (const Code& code : coordinate(ref)) at.push_back(code);
    return "&" + buffer_name(ref.buffer) + "[" + offset(ref.buffer, at).text + "]";
  };
  const auto operand = [&](const ir::Ref& ref, const std::optional<Layout>& layout,
                           const char* transposed) {
    if (!layout) return descriptor(ref, atom->instruction.find(transposed) != std::string::npos);
    vectors_.insert(ref.buffer.index);
    const OperandRegisters held = registers_of(*layout, buffer(ref.buffer).element);
    return "(const " + std::string(held.type) + "*)" + first(ref);
  };
  const std::string d = first(mma.d);
  const std::string operands =
      d + ", " + operand(mma.a, atom->a, "$trans_a") + ", " + operand(mma.b, atom->b, "$trans_b");
  if (mma.kind == ir::MmaKind::wgmma) {
    const std::string scale = mma.zero ? "!(" + expression(mma.zero).text + ")" : "1";
    return out_.line(function + "(" + operands + ", " + scale + ");", line);
  }
  if (mma.zero) {
    out_.line("#pragma unroll", line);
    out_.line("for (int i = 0; i < " + std::to_string(values_of(atom->d)) + "; ++i) if (" +
                  expression(mma.zero).text + ") (" + d + ")[i] = 0;",
              line);
  }
  out_.line(function + "(" + operands + ");", line);
}

}  // namespace lay::cuda
