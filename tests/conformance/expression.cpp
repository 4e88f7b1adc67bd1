// One row for each operation of the vectors: the expression, with $0 and $1 for the operands,
// {name} for an argument, and {*} for each entry of a list of arguments in turn, which makes a
// tuple of results.

#include "tests/conformance/expression.h"

#include <map>
#include <stdexcept>

namespace conformance {
namespace {

struct Row {
  const char* text;
  const char* each = nullptr;
};

const std::map<std::string, Row>& rows() {
  static const std::map<std::string, Row> table = {
      {"info", {"(rank($0), depth($0), size($0), cosize($0), coshape($0))"}},
      {"crd2idx", {"$0({*})", "coords"}},
      {"idx2crd", {"idx2crd({*}, $0)", "indices"}},
      {"idx2crd_stride", {"idx2crd({*}, shape($0), stride($0))", "indices"}},
      {"crd2crd", {"crd2crd({*}, $0, $0)", "coords"}},
      {"get_coord",
       {"(get_hier_coord($0, {*}), get_flat_coord($0, {*}), get_1d_coord($0, {*}))", "indices"}},
      {"coalesce", {"coalesce($0)"}},
      {"coalesce_profile", {"coalesce($0, {profile})"}},
      {"filter", {"filter($0)"}},
      {"filter_zeros", {"filter_zeros($0)"}},
      {"filter_profile", {"filter($0, {profile})"}},
      {"flatten", {"flatten($0)"}},
      {"unflatten", {"unflatten($0, {profile})"}},
      {"composition", {"$0 o $1"}},
      {"composition_basis", {"composition($0, $1)"}},
      {"composition_tiler", {"$0 o {tiler}"}},
      {"composition_shape", {"composition($0, {shape_tiler})"}},
      {"with_shape", {"with_shape($0, {shape})"}},
      {"complement", {"complement($0)"}},
      {"complement_cotarget", {"complement($0, {cotarget})"}},
      {"right_inverse", {"right_inverse($0)"}},
      {"left_inverse", {"left_inverse($0)"}},
      {"nullspace", {"nullspace($0)"}},
      {"max_common_layout", {"max_common_layout($0, $1)"}},
      {"max_common_vector", {"max_common_vector($0, $1)"}},
      {"max_alignment", {"max_alignment($0)"}},
      {"domain_distribute", {"domain_distribute($0, {n})"}},
      {"logical_divide", {"logical_divide($0, {tiler})"}},
      {"zipped_divide", {"zipped_divide($0, {tiler})"}},
      {"tiled_divide", {"tiled_divide($0, {tiler})"}},
      {"flat_divide", {"flat_divide($0, {tiler})"}},
      {"logical_product", {"logical_product($0, {tiler})"}},
      {"zipped_product", {"zipped_product($0, {tiler})"}},
      {"tiled_product", {"tiled_product($0, {tiler})"}},
      {"flat_product", {"flat_product($0, {tiler})"}},
      {"blocked_product", {"blocked_product($0, {tiler})"}},
      {"raked_product", {"raked_product($0, {tiler})"}},
      {"tile_to_shape", {"tile_to_shape($0, {target}{, order})"}},
      {"upcast", {"upcast($0, {N})"}},
      {"downcast", {"downcast($0, {N})"}},
      {"recast_layout", {"recast($0, {old_bits}, {new_bits})"}},
      {"swizzle", {"$0({*})", "indices"}},
      {"swizzle_upcast", {"upcast($0, {N})"}},
      {"swizzle_downcast", {"downcast($0, {N})"}},
      {"swizzle_compose", {"$0 o $1"}},
      {"swizzle_layout", {"$0"}},
      {"layout_compose_swizzle", {"$0 o $1"}},
      {"composed_compose", {"$0 o {rhs}"}},
      {"composed_slice_and_offset", {"slice({coord}, $0)"}},
      {"composed_logical_divide", {"logical_divide($0, {tiler})"}},
      {"composed_zipped_divide", {"zipped_divide($0, {tiler})"}},
      {"composed_tiled_divide", {"tiled_divide($0, {tiler})"}},
      {"composed_flat_divide", {"flat_divide($0, {tiler})"}},
      {"composed_tile_to_shape", {"tile_to_shape($0, {target}{, order})"}},
      {"composed_upcast", {"upcast($0, {N})"}},
      {"composed_downcast", {"downcast($0, {N})"}},
      {"composed_recast", {"recast($0, {old_bits}, {new_bits})"}},
      {"composed_right_inverse", {"right_inverse($0)"}},
      {"composed_left_inverse", {"left_inverse($0)"}},
      {"composed_max_common_layout", {"max_common_layout($0, $1)"}},
      {"composed_max_common_vector", {"max_common_vector($0, $1)"}},
      {"select", {"select($0{, modes})"}},
      {"take", {"take($0, {begin}, {end})"}},
      {"group", {"group($0, {begin}, {end})"}},
      {"get", {"get($0{, path})"}},
      {"append", {"append($0{, x}{, N})"}},
      {"prepend", {"prepend($0{, x}{, N})"}},
      {"replace", {"replace($0, {N}, {x})"}},
      {"zip", {"zip($0, $1)"}},
      {"make_layout", {"layout($0{, major})"}},
      {"make_ordered_layout", {"make_ordered_layout($0, {order})"}},
      {"make_layout_like", {"make_layout_like($0)"}},
      {"make_fragment_like", {"make_fragment_like($0)"}},
      {"make_identity_layout", {"make_identity_layout($0)"}},
      {"identity_composition", {"$0 o {tiler}"}},
      {"identity_logical_divide", {"logical_divide($0, {tiler})"}},
      {"identity_zipped_divide", {"zipped_divide($0, {tiler})"}},
      {"identity_tiled_divide", {"tiled_divide($0, {tiler})"}},
      {"identity_flat_divide", {"flat_divide($0, {tiler})"}},
      {"identity_coalesce", {"coalesce($0)"}},
      {"identity_filter", {"filter($0)"}},
      {"identity_flatten", {"flatten($0)"}},
      {"identity_cosize", {"cosize($0)"}},
      {"identity_coshape", {"coshape($0)"}},
      {"basis_layout", {"$0"}},
      {"slice_and_offset", {"slice_and_offset({coord}, $0)"}},
      {"dice", {"dice({coord}, $0)"}},
      {"compatible", {"compatible($0, $1)"}},
      {"congruent", {"congruent($0, $1)"}},
      {"weakly_congruent", {"weakly_congruent($0, $1)"}},
      {"evenly_divides", {"evenly_divides($0, $1)"}},
      {"ceil_div", {"ceil_div($0, $1)"}},
      {"shape_div", {"shape_div($0, $1)"}},
      {"mma_atom", {"{of}.{part}"}},
      {"copy_atom", {"{of}.{part}"}},
      {"smem_atom", {"{of}.address o 0 o layout_part({of}.layout)"}},
      {"smem_tile", {"{of}.address o 0 o layout_part({part}({of}.layout, {shape of part}))"}},
      {"tiled_mma", {"{member of}"}},
      {"tiled_copy", {"{member of}"}},
      {"tiled_mma_partition",
       {"(of_thread({partition of}, make_identity_layout({shape of member})), 0)[0], "
        "{partition of}, layout({shape of member})))"}},
      {"tiled_copy_partition",
       {"(of_thread({partition of}, make_identity_layout({shape of member})), 0)[0], "
        "{partition of}, layout({shape of member})))"}},
  };
  return table;
}

// CuTe's names of members: as a field of the record, or with ( as a function of it.
std::string member_text(const std::string& member, const std::string& of) {
  static const std::map<std::string, std::string> fields = {
      {"Shape_MNK", "shape"},
      {"ThrID", "threads"},
      {"ALayout", "A"},
      {"BLayout", "B"},
      {"CLayout", "C"},
      {"SrcLayout", "source"},
      {"DstLayout", "destination"},
      {"RefLayout", "registers"},
      {"tile_shape", "shape"},
      {"tiler_mn", "tile"},
      {"thr_layout_vmnk", "lanes"},
      {"TiledLayout_TV", "tv"},
      {"layoutA_TV", "layout_A("},
      {"layoutB_TV", "layout_B("},
      {"layoutC_TV", "layout_C("},
      {"layoutS_TV", "layout_S("},
      {"layoutD_TV", "layout_D("},
  };
  const std::string& field = fields.at(member);
  return field.ends_with('(') ? field + of + ")" : of + "." + field;
}

class Text {
 public:
  Text(const Case& c, const Spelling& spelling) : c_(c), spelling_(spelling) {}

  std::string fill(const std::string& pattern, const Json* each = nullptr) const {
    std::string text;
    for (size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] == '$') {
        text += operand(c_.in.at(static_cast<size_t>(pattern[++i] - '0')));
      } else if (pattern[i] == '{') {
        const size_t end = pattern.find('}', i);
        const std::string name = pattern.substr(i + 1, end - i - 1);
        text += name == "*" ? plain(*each) : argument(name);
        i = end;
      } else {
        text += pattern[i];
      }
    }
    return text;
  }

 private:
  using Number = std::function<std::string(int64_t)>;

  static std::string tuple(const Json& t, const Number& number) {
    if (t.is_number_integer()) return number(t.get<int64_t>());
    if (t.is_string()) return t.get<std::string>();
    std::string text = "(";
    for (size_t i = 0; i < t.size(); ++i) text += (i ? "," : "") + tuple(t[i], number);
    return text + (t.size() == 1 ? ",)" : ")");
  }
  static std::string plain(const Json& t) {
    return tuple(t, [](int64_t n) { return std::to_string(n); });
  }
  std::string layout(const Json& j) const {
    return "(" + tuple(j.at("shape"), spelling_.extent) + ":" +
           tuple(j.at("stride"), spelling_.stride) + ")";
  }
  std::string operand(const Json& j) const {
    if (!j.is_object()) return tuple(j, spelling_.extent);
    if (j.contains("identity_shape")) {
      return "make_identity_layout(" + tuple(j.at("identity_shape"), spelling_.extent) + ")";
    }
    if (!j.contains("swizzle")) return layout(j);
    const std::string swizzle = as_swizzle(j).to_string();
    if (!is_composed(j)) return swizzle;
    return "(" + swizzle + " o " + plain(j.at("offset")) + " o " + layout(j.at("layout")) + ")";
  }
  // A layout, a number, `_`, or a tuple of these.
  std::string tiler(const Json& j) const {
    if (!j.is_array()) return operand(j);
    std::string text = "(";
    for (size_t i = 0; i < j.size(); ++i) text += (i ? "," : "") + tiler(j[i]);
    return text + (j.size() == 1 ? ",)" : ")");
  }
  static std::string type_of_bits(int bits) {
    static const std::map<int, std::string> types = {{1, "pred"}, {4, "u4"},    {6, "e2m3"},
                                                     {8, "u8"},   {16, "u16"},  {32, "u32"},
                                                     {64, "u64"}, {128, "u128"}};
    const auto type = types.find(bits);
    return type == types.end() ? std::to_string(bits) : type->second;
  }
  // "C(64,32)": what stands before the parentheses, and the parentheses.
  static std::string head_of(const std::string& member) {
    return member.substr(0, member.find('('));
  }
  static std::string shape_of(const std::string& member) { return member.substr(member.find('(')); }

  std::string argument(const std::string& name) const {
    if (name.starts_with(", ")) {  // left out where it is not given
      const std::string rest = name.substr(2);
      if (!c_.args.contains(rest) || c_.args.at(rest).is_null()) return "";
      if (rest == "major") return c_.args.at(rest) == "LayoutLeft" ? "" : ", right";
      if (rest != "modes" && rest != "path") return ", " + argument(rest);
      std::string text;
      for (const Json& j : c_.args.at(rest)) text += ", " + j.dump();
      return text;
    }
    if (name == "of") return c_.args.at("of");
    if (name == "part") {
      const std::string part = c_.args.at("part");
      return c_.op == "smem_tile" ? head_of(part) : member_text(part, "").substr(1);
    }
    if (name == "shape of part") return shape_of(c_.args.at("part"));
    if (name == "member of") return member_text(c_.args.at("member"), c_.args.at("of"));
    if (name == "partition of") {
      return "partition_" + head_of(c_.args.at("member")) + "(" +
             c_.args.at("of").get<std::string>();
    }
    if (name == "shape of member") return shape_of(c_.args.at("member"));
    if (name.ends_with("_bits")) return type_of_bits(c_.args.at(name));
    const Json& j = c_.args.at(name);
    const bool lifted = name == "tiler" || name == "shape_tiler" || name == "rhs" ||
                        name == "cotarget" || name == "target" || name == "shape" || name == "x";
    return lifted ? tiler(j) : plain(j);
  }

  const Case& c_;
  const Spelling& spelling_;
};

}  // namespace

std::optional<std::string> expression_of(const Case& c, const Spelling& spelling) {
  const auto row = rows().find(c.op);
  if (row == rows().end()) return std::nullopt;
  const Text text(c, spelling);
  if (!row->second.each) return text.fill(row->second.text);
  std::string all = "(";
  for (const Json& j : c.args.at(row->second.each)) all += text.fill(row->second.text, &j) + ",";
  return all + ")";
}

}  // namespace conformance
