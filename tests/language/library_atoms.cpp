// Atoms as C++ sees them: every record of the library for all parameters, records of scripts,
// schedules and policies.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/memory/copy_rows.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/algebra/tuples/tuple_operations.h"
#include "frontend/sema/kernel/copy_instruction.h"
#include "frontend/sema/library.h"
#include "frontend/sema/stdlib.h"
#include "tests/language/script.h"

using namespace lay;
using namespace lay::sema;
using lay::sema::test::errors;
using lay::sema::test::Script;
using MultiplyAdd = sema::Atom;

namespace {

constexpr ElementType f16 = ElementType::f16, bf16 = ElementType::bf16, tf32 = ElementType::tf32,
                      f32 = ElementType::f32, f64 = ElementType::f64, e4m3 = ElementType::e4m3,
                      e5m2 = ElementType::e5m2, s8 = ElementType::s8, u8 = ElementType::u8,
                      s4 = ElementType::s4, u4 = ElementType::u4, pred = ElementType::pred,
                      s32 = ElementType::s32;

std::vector<LibraryArgument> warp(int m, int k, ElementType ab, ElementType acc) {
  return {{"m", m}, {"k", k}, {"ab", ab}, {"acc", acc}};
}
std::vector<LibraryArgument> group(int n, ElementType ab, ElementType acc) {
  return {{"n", n}, {"ab", ab}, {"acc", acc}};
}

std::string refused(const std::string& library, const std::string& name,
                    const std::vector<LibraryArgument>& with) {
  try {
    library_atom(library, name, with);
  } catch (const Refusal& refusal) {
    return refusal.code;
  }
  return "";
}

}  // namespace

TEST_CASE("wgmma as an atom") {
  const MultiplyAdd atom = library_atom("atoms.sm90", "wgmma", group(256, bf16, f32));
  CHECK(atom.name == "sm90.wgmma(n = 256, ab = bf16, acc = f32)");
  CHECK(atom.kind == "warpgroup");
  CHECK(atom.count() == 128);
  CHECK(atom.shape == std::array{64, 256, 16});
  CHECK(atom.c.to_string() == "((4,8,4),(2,2,32)):((128,1,16),(64,8,512))");
  CHECK(atom.a_shared);
  CHECK(atom.b_shared);
  CHECK(atom.instruction ==
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 $d, $a, $b, $scale, 1, 1, $trans_a, "
        "$trans_b");
  CHECK(atom.takes_transposed_a());
  CHECK(atom.swizzle_widths == std::vector{128, 64, 32});
  CHECK(atom.cost == 128);
  const MultiplyAdd registers = library_atom("atoms.sm90", "wgmma_rs", group(64, s8, s32));
  CHECK_FALSE(registers.a_shared);
  CHECK(registers.instruction ==
        "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 $d, $a, $b, $scale");
  CHECK(library_atom("atoms.sm80", "mma", warp(16, 16, f16, f32)).instruction ==
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 $d, $a, $b, $d");
  CHECK(library_atom("atoms.sm80", "mma", warp(16, 256, pred, s32)).instruction ==
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc $d, $a, $b, $d");
}

TEST_CASE(
    "every wgmma of the library covers its tile, for every N, and lasts 128 clocks a m64n256") {
  struct Row {
    ElementType ab, acc;
  };
  const std::vector<Row> rows = {{f16, f32},  {f16, f16},  {bf16, f32}, {tf32, f32}, {e4m3, f32},
                                 {e4m3, f16}, {e5m2, f32}, {e5m2, f16}, {s8, s32},   {u8, s32}};
  int count = 0;
  for (const Row& row : rows) {
    for (int n = 8; n <= 256; n += 8) {
      const bool there = row.acc != s32 || n <= 24 || n % 16 == 0;
      for (const char* name : {"wgmma", "wgmma_rs"}) {
        INFO(name << " n = " << n << " ab = " << element_name(row.ab)
                  << " acc = " << element_name(row.acc));
        if (!there) {
          CHECK(refused("atoms.sm90", name, group(n, row.ab, row.acc)) == "not-an-atom");
          continue;
        }
        const MultiplyAdd atom = library_atom("atoms.sm90", name, group(n, row.ab, row.acc));
        CHECK(atom.shape == std::array{64, n, 256 / bits(row.ab)});
        CHECK(atom.takes_transposed_b() == (bits(row.ab) == 16));
        CHECK(atom.cost >= n / 2);
        if (n == 256) CHECK(atom.cost == 128);
        ++count;
      }
    }
  }
  CHECK(count == 2 * (8 * 32 + 2 * 18));
  CHECK(refused("atoms.sm90", "wgmma", group(264, bf16, f32)) == "not-an-atom");
  CHECK(refused("atoms.sm90", "wgmma", group(128, bf16, s32)) == "not-an-atom");
  CHECK(refused("atoms.sm90", "wgmma", group(128, f32, f32)) == "not-an-atom");
}

TEST_CASE("every other multiply-add of the library covers its tile") {
  struct Row {
    int m, k, since;
    ElementType ab, acc;
  };
  const std::vector<Row> rows = {
      {16, 8, 75, f16, f32},    {16, 8, 75, f16, f16},   {16, 16, 80, f16, f32},
      {16, 16, 80, f16, f16},   {16, 8, 80, bf16, f32},  {16, 16, 80, bf16, f32},
      {16, 4, 80, tf32, f32},   {16, 8, 80, tf32, f32},  {8, 4, 80, f64, f64},
      {16, 4, 90, f64, f64},    {16, 8, 90, f64, f64},   {16, 16, 90, f64, f64},
      {16, 32, 89, e4m3, f32},  {16, 32, 89, e5m2, f16}, {8, 16, 75, s8, s32},
      {16, 16, 80, u8, s32},    {16, 32, 80, s8, s32},   {8, 32, 75, s4, s32},
      {16, 32, 80, u4, s32},    {16, 64, 80, s4, s32},   {8, 128, 75, pred, s32},
      {16, 128, 80, pred, s32}, {16, 256, 80, pred, s32}};
  for (const Row& row : rows) {
    INFO("m = " << row.m << " k = " << row.k << " ab = " << element_name(row.ab));
    const MultiplyAdd atom = library_atom("atoms.sm90", "mma", warp(row.m, row.k, row.ab, row.acc));
    CHECK(atom.since == row.since);
    CHECK(atom.cost > 0);
    CHECK((atom.error > 0) == is_float(row.acc));
  }
  for (const ElementType type : {f16, bf16})
    CHECK(library_atom("atoms.sm80", "mma_pair", {{"ab", type}, {"acc", f32}}).shape ==
          std::array{16, 8, 32});
  CHECK(refused("atoms.sm80", "mma_pair", {{"ab", s8}, {"acc", s32}}) == "not-an-atom");
  CHECK(refused("atoms.sm80", "mma", warp(16, 32, f16, f32)) == "not-an-atom");
  CHECK(refused("atoms.sm80", "mma", warp(8, 8, bf16, f32)) == "not-an-atom");
  for (const char* a : {"row", "col"}) {
    for (const char* b : {"row", "col"}) {
      for (const ElementType acc : {f16, f32}) {
        CHECK(library_atom("atoms.sm70", "quad_mma", {{"a", a}, {"b", b}, {"acc", acc}}).count() ==
              8);
      }
    }
  }
  for (const ElementType type : {f32, f64, s32}) {
    CHECK(library_atom("atoms.simt", "fma", {{"ab", type}, {"acc", type}}).shape ==
          std::array{1, 1, 1});
  }
}

// Rows and columns of the two values that a lane holds in a register of an operand.
std::array<std::array<std::int64_t, 2>, 2> held(const Layout& operand, int rows, std::size_t lane,
                                                int word) {
  const auto places = values(operand);
  std::array<std::array<std::int64_t, 2>, 2> made;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t at = places.at(lane + 32 * (2 * static_cast<std::size_t>(word) + i));
    made[i] = {at % rows, at / rows};
  }
  return made;
}

TEST_CASE("a pair of multiply-adds gives each the registers of its own k, the same of A and B") {
  const MultiplyAdd one = library_atom("atoms.sm80", "mma", warp(16, 16, bf16, f32)),
                    pair = library_atom("atoms.sm80", "mma_pair", {{"ab", bf16}, {"acc", f32}});
  const std::string text = pair.instruction;
  const std::size_t between = text.find("; ");
  REQUIRE(between != std::string::npos);
  std::set<std::int64_t> met;
  for (const std::string& part : {text.substr(0, between), text.substr(between + 2)}) {
    // As the instruction of one, with registers by name.
    REQUIRE(part.starts_with(one.instruction.substr(0, one.instruction.find("$d"))));
    REQUIRE(part.ends_with(", $d"));
    const auto words = [&](char operand) {
      std::vector<int> made;
      for (std::size_t at = part.find('$'); at != std::string::npos; at = part.find('$', at + 1))
        if (part[at + 1] == operand) made.push_back(std::stoi(part.substr(at + 2)));
      return made;
    };
    const std::vector<int> a = words('a'), b = words('b');
    REQUIRE(a.size() == 4);
    REQUIRE(b.size() == 2);
    // Which k of the pair stands for each k of this instruction.
    std::map<std::int64_t, std::int64_t> stands_for;
    const auto follow = [&](const Layout& of_one, const Layout& of_pair, int rows,
                            const std::vector<int>& names) {
      for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t word = 0; word < names.size(); ++word) {
          const auto expected = held(of_one, rows, lane, static_cast<int>(word)),
                     given = held(of_pair, rows, lane, names[word]);
          for (std::size_t i = 0; i < 2; ++i) {
            CHECK(given[i][0] == expected[i][0]);
            const auto known = stands_for.emplace(expected[i][1], given[i][1]).first->second;
            CHECK(known == given[i][1]);
          }
        }
      }
    };
    follow(one.a, pair.a, 16, a);
    follow(one.b, pair.b, 8, b);
    CHECK(stands_for.size() == 16);
    for (const auto& [k, of_pair] : stands_for) met.insert(of_pair);
  }
  CHECK(met.size() == 32);
}

TEST_CASE("every copy of the library moves each bit of both sides, and says what it demands") {
  struct Row {
    const char* name;
    std::vector<LibraryArgument> with;
    int threads, since, alignment;
    std::int64_t bits;
  };
  std::vector<Row> rows;
  for (const int n : {1, 2, 4}) {
    for (const char* name : {"ldmatrix", "ldmatrix_trans"})
      rows.push_back({name, {{"n", n}}, 32, 75, 16, 1024 * n});
    for (const char* name : {"stmatrix", "stmatrix_trans"})
      rows.push_back({name, {{"n", n}}, 32, 90, 16, 1024 * n});
  }
  for (const int bytes : {4, 8, 16}) {
    rows.push_back({"cp_async", {{"bytes", bytes}}, 1, 80, bytes, 8 * bytes});
    rows.push_back({"vector_copy", {{"bytes", bytes}}, 1, 0, bytes, 8 * bytes});
  }
  for (const int rank : {1, 2, 3, 4, 5}) {
    for (const char* name : {"tma_load", "tma_store"})
      rows.push_back({name, {{"rank", rank}, {"bytes", 16384}}, 1, 90, 128, 131072});
    rows.push_back({"tma_load_multicast",
                    {{"rank", rank}, {"bytes", 8192}, {"blocks", 2}},
                    2,
                    90,
                    128,
                    65536});
    if (rank < 3) continue;
    rows.push_back({"tma_load_im2col", {{"rank", rank}, {"bytes", 512}}, 1, 90, 128, 4096});
    rows.push_back({"tma_load_im2col_multicast",
                    {{"rank", rank}, {"bytes", 512}, {"blocks", 2}},
                    2,
                    90,
                    128,
                    4096});
  }
  for (const Row& row : rows) {
    INFO(row.name);
    const CopyInstruction copy = library_copy("atoms.sm90", row.name, row.with);
    CHECK(copy.count() == row.threads);
    CHECK(copy.since == row.since);
    CHECK(copy.alignment == row.alignment);
    CHECK(copy.bits() == row.bits);
    CHECK((copy.pitch == 16) == (std::string(row.name).starts_with("tma")));
    if (row.since > 0) CHECK(copy.cost > 0);
  }
  CHECK(
      library_copy("atoms.sm90", "tma_load_multicast", {{"rank", 2}, {"bytes", 64}, {"blocks", 4}})
          .instruction ==
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
      "cluster [$to], [$map, "
      "{$coordinates}], [$barrier], $mask");
  CHECK(library_copy("atoms.sm90", "tma_store", {{"rank", 3}, {"bytes", 64}}).instruction ==
        "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [$map, {$coordinates}], [$from]");
}

TEST_CASE("rows of the library's copies of matrices are those of the PTX ISA, place by place") {
  const auto rows_of = [](const CopyInstruction& copy, int bits) {
    const bool loads = copy.from == CopySpace::shared;
    return copy_rows(loads ? copy.source : copy.destination, loads ? copy.destination : copy.source,
                     bits);
  };
  for (const int n : {1, 2, 4}) {
    for (const bool store : {false, true}) {
      for (const bool transposed : {false, true}) {
        const std::string name =
            std::string(store ? "st" : "ld") + "matrix" + (transposed ? "_trans" : "");
        const CopyInstruction copy = library_copy("atoms.sm90", name, {{"n", n}});
        CHECK(copy.from == (store ? CopySpace::registers : CopySpace::shared));
        CHECK(copy.to == (store ? CopySpace::shared : CopySpace::registers));
        for (const int bits : {8, 16, 32}) {
          INFO(copy.name << ", " << bits << " bits");
          const auto rows = rows_of(copy, bits);
          // Transposed, a register has bytes of two rows: two elements of 16 bits, none wider.
          const bool whole = !transposed || bits <= 16;
          REQUIRE(rows.has_value() == whole);
          if (!whole) continue;
          const int together = 32 / bits;
          CHECK(rows->rows == 8 * n);
          CHECK(rows->length == 128 / bits);
          REQUIRE(rows->values == n * together);
          if (transposed && bits != 16) continue;
          // ldmatrix: thread 8 i + j names row j of matrix i; lane 4 r + l has bytes 4 l to 4 l + 3
          // of row r, or, transposed, elements r of rows 2 l and 2 l + 1.
          int wrong = 0;
          for (int value = 0; value < rows->values; ++value) {
            for (int lane = 0; lane < 32; ++lane) {
              const int major = lane / 4, minor = lane % 4 * together + value % together;
              const int row = value / together * 8 + (transposed ? minor : major);
              wrong += rows->place(lane, value) != RowPlace{row, transposed ? major : minor};
            }
          }
          CHECK(wrong == 0);
        }
      }
    }
  }
  // Half of an element's bits elsewhere, and rows that the second half of the threads name.
  const Layout memory(tuple(32, 128), tuple(128, 1)),
      registers(tuple(32, tuple(32, 4)), tuple(32, tuple(1, 1024)));
  CHECK(copy_rows(memory, registers, 16));
  CHECK(!copy_rows(memory, Layout(tuple(32, tuple(4, 32)), tuple(32, tuple(1024, 1))), 16));
  CHECK(!copy_rows(memory, registers, 48));
}

TEST_CASE("the library lists the copies that the planner chooses among, each once") {
  const auto names = [](CopySpace from, CopySpace to, int capability) {
    std::set<std::string> all;
    for (const CopyInstruction& each : library_copies(from, to, capability)) {
      CHECK(all.insert(each.name).second);
      CHECK(each.since <= capability);
      // The name says where it stands, for `use` and for texts of tile programs.
      const auto dot = each.name.find('.');
      CHECK(stdlib_text("atoms." + each.name.substr(0, dot)));
    }
    return all;
  };
  using enum CopySpace;
  using Names = std::set<std::string>;
  CHECK(names(global, shared, 80) ==
        Names{"sm80.cp_async(bytes = 4)", "sm80.cp_async(bytes = 8)", "sm80.cp_async(bytes = 16)"});
  CHECK(names(global, shared, 75).empty());
  CHECK(names(registers, shared, 89).empty());
  CHECK(names(registers, shared, 90).size() == 6);
  CHECK(names(shared, registers, 75) == names(shared, registers, 90));
  CHECK(names(shared, registers, 80).size() == 6);
}

TEST_CASE("the library gives the copies of a box, each once") {
  const auto names = [](int modes, int bytes, int blocks) {
    std::vector<std::string> all;
    for (const CopyInstruction& each : library_box_copies(modes, bytes, blocks)) {
      CHECK(each.is_box());
      CHECK(each.modes == modes);
      CHECK(each.bits() == 8 * bytes);
      CHECK(each.of_pixels() == (each.name.find("im2col") != std::string::npos));
      CHECK((each.kind == "cluster") == (each.name.find("multicast") != std::string::npos));
      if (each.kind == "cluster") CHECK(each.count() == blocks);
      all.push_back(each.name.substr(0, each.name.find('(')));
    }
    return all;
  };
  using Names = std::vector<std::string>;
  CHECK(names(2, 64, 4) == Names{"sm90.tma_load", "sm90.tma_load_multicast", "sm90.tma_store"});
  CHECK(names(4, 16, 1) == Names{"sm90.tma_load", "sm90.tma_load_multicast", "sm90.tma_load_im2col",
                                 "sm90.tma_load_im2col_multicast", "sm90.tma_store"});
  // No box of 8 bytes, of 6 modes, for 17 blocks.
  CHECK(names(2, 8, 1).empty());
  CHECK(names(6, 64, 1).empty());
  CHECK(names(2, 64, 17) == Names{"sm90.tma_load", "sm90.tma_store"});
}

TEST_CASE("a copy of a box names what TMA needs, and other copies do not") {
  const auto fault = [](std::vector<std::pair<std::string, Value>> changed) -> std::string {
    const Layout bits(tuple(1, 1024), tuple(0, 1));
    Record record{
        "mine",
        "mine()",
        {{"kind", Value(std::string("thread"))},
         {"from", Value(std::string("global"))},
         {"to", Value(std::string("shared"))},
         {"threads", Value(Layout(1, 0))},
         {"source", Value(bits)},
         {"destination", Value(bits)},
         {"modes", Value(Tuple(2))},
         {"instruction", Value(std::string("load [$to], [$map, {$coordinates}], [$barrier]"))}}};
    for (auto& [name, value] : changed)
      for (auto& [field, old] : record.fields)
        if (field == name) old = value;
    try {
      copy_of(record);
    } catch (const Refusal& refusal) {
      return refusal.message;
    }
    return "";
  };
  const auto word = [](const char* text) { return Value(std::string(text)); };
  using Change = std::vector<std::pair<std::string, Value>>;
  CHECK(fault({}) == "");
  const std::pair<Change, const char*> wrong[] = {
      {{{"instruction", word("load [$to], [$map], [$barrier]")}}, "does not name $coordinates"},
      {{{"instruction", word("load [$to], [$map, {$coordinates}]")}}, "does not name $barrier"},
      {{{"instruction", word("load [$map, {$coordinates}], [$barrier]")}}, "does not name $to"},
      {{{"instruction", word("load [$to], [$map, {$coordinates}], [$barrier], $mask")}},
       "names $mask"},
      {{{"kind", word("cluster")}}, "does not name $mask"},
      {{{"modes", Value(Tuple(0))}}, "names $map"},
      {{{"modes", Value(Tuple(0))}, {"kind", word("cluster")}}, "a cluster copies boxes"},
      {{{"to", word("registers")}}, "between global and shared memory"},
      {{{"from", word("shared")}, {"to", word("global")}}, "names $barrier"},
  };
  for (const auto& [change, message] : wrong) {
    INFO(message << "\n" << fault(change));
    CHECK(fault(change).find(message) != std::string::npos);
  }
}

TEST_CASE("what is no copy, or leaves bits out, is refused") {
  const auto code = [](const std::string& name,
                       const std::vector<LibraryArgument>& with) -> std::string {
    try {
      library_copy("atoms.sm90", name, with);
    } catch (const Refusal& refusal) {
      return refusal.code;
    }
    return "";
  };
  CHECK(code("ldmatrix", {{"n", 3}}) ==
        "not-exact");  // 3 does not divide the 4 matrices that 32 lanes name rows of
  CHECK(code("cp_async", {{"bytes", 5}}) == "not-an-atom");
  CHECK(code("tma_load", {{"rank", 6}, {"bytes", 64}}) == "not-an-atom");
  CHECK(code("tma_store", {{"rank", 2}, {"bytes", 24}}) == "not-an-atom");
  CHECK(code("tma_load_im2col", {{"rank", 2}, {"bytes", 64}}) == "not-an-atom");
  CHECK(code("tma_load_multicast", {{"rank", 2}, {"bytes", 64}, {"blocks", 17}}) == "not-an-atom");
  CHECK(code("smem_k", {{"width", 128}, {"element", f16}}) ==
        "not-an-atom");  // a record of something else
  CHECK(code("mma", warp(16, 16, f16, f32)) == "not-an-atom");

  const auto layout = [](Tuple shape, Tuple stride) {
    return Value(Layout(std::move(shape), std::move(stride)));
  };
  const auto refused = [&](const Value& source) -> std::string {
    const Layout bits(tuple(1, 64), tuple(0, 1));
    const Record record{"mine",
                        "mine()",
                        {{"kind", Value(std::string("thread"))},
                         {"threads", layout(Tuple(1), Tuple(0))},
                         {"source", source},
                         {"destination", Value(bits)}}};
    try {
      copy_of(record);
    } catch (const Refusal& refusal) {
      return refusal.message;
    }
    return "";
  };
  CHECK(refused(layout(tuple(1, 64), tuple(0, 1))) == "");
  CHECK_THAT(refused(layout(tuple(1, 64), tuple(0, 2))), Catch::Contains("misses element"));
  CHECK_THAT(refused(layout(tuple(1, tuple(32, 2)), tuple(0, tuple(1, 0)))),
             Catch::Contains("twice"));
  CHECK_THAT(refused(layout(tuple(2, 32), tuple(32, 1))), Catch::Contains("is of 2 threads"));
  CHECK_THAT(refused(layout(tuple(1, 32), tuple(0, 1))), Catch::Contains("leaves the tile"));
}

TEST_CASE("policies of the library") {
  const std::vector<Policy> rows = library_policies("sm90", {bf16, bf16, f32});
  REQUIRE_FALSE(rows.empty());
  const auto entry = [&](const std::string& key) {
    const auto wide = std::find_if(rows.begin(), rows.end(),
                                   [](const Policy& row) { return row.name == "256x176_1x2"; });
    REQUIRE(wide != rows.end());
    for (const ScheduleEntry& each : wide->entries) {
      if (each.key == key) return each.value;
    }
    return ScheduleEntry{}.value;
  };
  CHECK(std::get<Tuple>(entry("tile")).to_string() == "(256,176,64)");
  CHECK(std::get<Tuple>(entry("cluster")).to_string() == "(1,2)");
  CHECK(std::get<MultiplyAdd>(entry("mma")).shape == std::array{64, 176, 16});
  // 16 * 12 pairs along N of tiles of 4096 x 4096, 66 at once, take three turns of 64 steps.
  const ProblemSize size{4096, 4096, 4096, 1, 132};
  const Int cost = under(std::get<Tuple>(entry("cost")).value(), size);
  REQUIRE(cost.is_literal());
  const int loads = 2 * (59 * 256 / 2 + 59 * 176) + 100 * (256 + 176);
  const int step = 100 * 256 * 176 / 32 + 21 * loads / 100;
  CHECK(cost.value() == 3 * (64 * step + 102 * 256 * 176 / 10 + 29000) + 62000 + 360000);
  const auto named = [](const ProductKind& kind, const std::string& name) {
    const std::vector<Policy> all = library_policies("sm90", kind);
    REQUIRE_FALSE(all.empty());
    return std::any_of(all.begin(), all.end(), [&](const Policy& row) { return row.name == name; });
  };
  // Rows that take nearly all registers are for what needs no others; integers have no n = 200.
  CHECK(named({bf16, bf16, f32}, "256x176_1x2"));
  CHECK(named({bf16, bf16, f32}, "256x200_2x1"));
  for (const ProductKind& other :
       {ProductKind{bf16, bf16, f32, 1}, ProductKind{bf16, bf16, f32, 0, true},
        ProductKind{bf16, bf16, f32, 0, false, 32}, ProductKind{s8, s8, s32, 0, false, 8}}) {
    CHECK(!named(other, "256x176_1x2"));
    CHECK(!named(other, "256x200_2x1"));
    CHECK(named(other, "256x128_1x2") == !other.masked);
  }
  // An A along m, a B along n and batches take two registers each.
  for (const int which : {0, 1, 2}) {
    const ProductKind other{.a = bf16,
                            .b = bf16,
                            .accumulator = f32,
                            .a_along_k = which != 0,
                            .b_along_k = which != 1,
                            .batched = which == 2};
    CHECK(named(other, "256x176_1x2"));
    CHECK(!named(other, "256x200_2x1"));
  }
  CHECK(!named({e4m3, e4m3, f32, 0, false, 8}, "256x176_1x2"));
  CHECK(named({s8, s8, s32, 0, false, 32}, "128x192"));
  CHECK(library_policies("sm90", {f32, f32, f32}).empty());
  CHECK(library_policies("simt", {s8, s8, s32}).empty());
  CHECK(library_policies("simt", {f64, f64, f64}).size() == 1);
}

namespace {

// A machine of nobody: a warp that multiplies 32 x 32 x 2, said in a script.
const char* kMine = R"lay(
record outer(ab, acc) {
  kind = "warp"
  shape = (32,32,2)
  threads = 32:1
  A = thread_values((32,2):(1,32))
  B = thread_values((32,(32,2)):(0,(1,32)))
  C = thread_values((32,32):(1,32))
  a_type = ab
  b_type = ab
  accumulator = acc
  instruction = text("outer.m32n32k2.", acc, ".", ab, " $d, $a, $b")
}
)lay";

const std::string kGemm =
    "kernel f<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: bf16 (M,N):(N,1)\n"
    "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";

std::string scheduled(const std::string& mma) {
  return kGemm + "schedule f for sm90 { mma = " + mma + " }\n";
}

// The atom of the only schedule.
MultiplyAdd scheduled_atom(const std::string& text) {
  const Script script(text);
  CHECK(script.messages == "");
  const std::vector<KernelPtr> kernels = script.evaluator.kernels();
  REQUIRE(kernels.size() == 1);
  REQUIRE(kernels[0]->schedules.size() == 1);
  return std::get<MultiplyAdd>(kernels[0]->schedules[0].entries.at(0).value);
}

}  // namespace

TEST_CASE("a schedule takes an atom of the library, and one that a script defines") {
  CHECK(
      scheduled_atom("use atoms.sm90\n" + scheduled("sm90.wgmma(n = 256, ab = bf16, acc = f32)")) ==
      library_atom("atoms.sm90", "wgmma", group(256, bf16, f32)));
  CHECK(scheduled_atom("use atoms.sm90\n" + scheduled("mma(16, 16, bf16, f32)")).name ==
        "sm90.mma(m = 16, k = 16, ab = bf16, acc = f32)");
  CHECK(scheduled_atom("use atoms.sm90\n" + scheduled("sm80.mma(16, 16, bf16, f32)")).name ==
        "sm80.mma(m = 16, k = 16, ab = bf16, acc = f32)");
  const MultiplyAdd mine = scheduled_atom(kMine + scheduled("outer(bf16, f32)"));
  CHECK(mine.name == "outer(ab = bf16, acc = f32)");
  CHECK(mine.instruction == "outer.m32n32k2.f32.bf16 $d, $a, $b");
  CHECK(mine.shape == std::array{32, 32, 2});
  // Without parameters it is there by its name.
  std::string alone = kMine;
  alone.replace(alone.find("(ab, acc)"), 9, "");
  alone.insert(0, "let ab = bf16\nlet acc = f32\n");
  CHECK(scheduled_atom(alone + scheduled("outer")).name == "outer");
  CHECK_THAT(Script(alone + scheduled("outer()")).messages,
             Catch::Contains("a record is written by its name alone"));
}

TEST_CASE("a tile of nothing is evaluated: what a schedule may say is for the planner to judge") {
  CHECK(errors("use atoms.sm90\n" + kGemm + "schedule f for sm90 { tile = (64,0,64) }\n") == "");
}

TEST_CASE("a schedule refuses what is no atom, and an atom that does not cover its tile") {
  const std::string use = "use atoms.sm90\n";
  CHECK(errors(use + scheduled("(64,256,16)")) == "not-an-atom");
  CHECK(errors(use + scheduled("sm90.wgmma")) == "not-an-atom");
  CHECK(errors(use + scheduled("sm90.ldmatrix(4)")) == "not-an-atom");
  CHECK(errors(use + scheduled("sm90.wgmma(n = 12, ab = bf16, acc = f32)")) != "");
  CHECK(errors(use + "dim n\nassume n % 8 == 0\n" +
               scheduled("sm90.wgmma(n = n, ab = bf16, acc = f32)")) == "not-an-atom");
  const auto broken = [](const std::string& from, const std::string& to) {
    std::string text = kMine;
    text.replace(text.find(from), from.size(), to);
    return Script(text + scheduled("outer(bf16, f32)")).messages;
  };
  CHECK_THAT(broken("(32,32):(1,32)", "(32,32):(1,31)"), Catch::Contains("holds element 31 twice"));
  CHECK_THAT(broken("(32,32):(1,32)", "(32,32):(1,33)"), Catch::Contains("leaves the tile"));
  CHECK_THAT(broken("(32,32):(1,32)", "(32,32):(0,32)"), Catch::Contains("twice"));
  CHECK_THAT(broken("(32,2):(1,32)", "(32,1):(1,32)"), Catch::Contains("misses element (0,1)"));
  CHECK_THAT(broken("(32,(32,2)):(0,(1,32))", "(32,(32,2)):(1,(1,32))"),
             Catch::Contains("holds element 1 twice"));
  CHECK_THAT(broken("(32,(32,2)):(0,(1,32))", "(32,(32,2)):(0,(1,0))"), Catch::Contains("twice"));
  CHECK_THAT(broken("\"warp\"", "\"warpgroup\""), Catch::Contains("128 threads"));
  CHECK_THAT(broken("\"warp\"", "\"gang\""), Catch::Contains("its kind is"));
  CHECK_THAT(broken("a_type = ab", "a_type = 8"), Catch::Contains("its a_type is an element type"));
}
