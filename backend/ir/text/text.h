// The words of the IR's text, for the printer and the parser: closed tables of (value, word).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backend/ir/ir.h"

namespace lay::ir::text {

// A table between the values of an enumeration and their words, looked up in both directions.
template <class E, size_t N>
struct Words {
  std::array<std::pair<E, std::string_view>, N> rows;
  constexpr std::string_view operator[](E value) const {
    for (const auto& [key, word] : rows) {
      if (key == value) return word;
    }
    return "?";
  }
  constexpr std::optional<E> find(std::string_view word) const {
    for (const auto& [key, name] : rows) {
      if (name == word) return key;
    }
    return std::nullopt;
  }
};
template <class E, class... Rows>
constexpr auto words(Rows... rows) {
  return Words<E, sizeof...(Rows)>{{std::pair<E, std::string_view>(rows.first, rows.second)...}};
}
template <class E>
constexpr std::pair<E, std::string_view> row(E value, std::string_view word) {
  return {value, word};
}

// The tables, one for each enumeration of ir.h.
inline constexpr auto kSpaces = words<Space>(
    row(Space::global, "global"), row(Space::shared, "shared"), row(Space::registers, "register"));
inline constexpr auto kBarriers = words<BarrierKind>(
    row(BarrierKind::block, "block"), row(BarrierKind::named, "named"),
    row(BarrierKind::mbarrier, "mbarrier"), row(BarrierKind::cluster, "cluster"));
inline constexpr auto kUniformities =
    words<Uniformity>(row(Uniformity::thread, "thread"), row(Uniformity::warp, "warp"),
                      row(Uniformity::warpgroup, "warpgroup"), row(Uniformity::block, "block"),
                      row(Uniformity::cluster, "cluster"), row(Uniformity::grid, "grid"));
inline constexpr auto kBuiltins =
    words<Builtin>(row(Builtin::thread, "thread"), row(Builtin::lane, "lane"),
                   row(Builtin::warp, "warp"), row(Builtin::warpgroup, "warpgroup"),
                   row(Builtin::block_x, "block_x"), row(Builtin::block_y, "block_y"),
                   row(Builtin::block_z, "block_z"), row(Builtin::cluster_rank, "cluster_rank"),
                   row(Builtin::cluster_count, "cluster_count"), row(Builtin::grid_x, "grid_x"));
// The word of a copy's kind, by its place in Copy::how; `copy` alone is a plain one.
inline constexpr std::array<std::string_view, std::variant_size_v<decltype(Copy::how)>> kCopies{
    "plain", "cp_async", "tma_load", "tma_store", "warp", "st_async"};
inline constexpr auto kScopes =
    words<CopyScope>(row(CopyScope::thread, "thread"), row(CopyScope::warp, "warp"),
                     row(CopyScope::cluster, "cluster"));
inline constexpr auto kMmas = words<MmaKind>(
    row(MmaKind::simt, "simt"), row(MmaKind::mma_sync, "mma_sync"), row(MmaKind::wgmma, "wgmma"));
// The word of an operation on a barrier, by its place in Sync::Operation. A word with the kind of
// its barrier is one operation.
inline constexpr std::array<std::string_view, std::variant_size_v<Sync::Operation>> kSyncs{
    "init",   "arrive",     "arrive_expect_bytes",
    "wait",   "invalidate", "sync",
    "sync",   "arrive",     "sync",
    "arrive", "wait"};
inline constexpr auto kFences = words<FenceKind>(
    row(FenceKind::warp, "warp"), row(FenceKind::proxy_async, "proxy_async"),
    row(FenceKind::mbarrier_init, "mbarrier_init"), row(FenceKind::wgmma, "wgmma"),
    row(FenceKind::acq_rel_cluster, "acq_rel_cluster"),
    row(FenceKind::grid_dependency_wait, "grid_dependency_wait"), row(FenceKind::branch, "branch"));
inline constexpr auto kGroups =
    words<GroupKind>(row(GroupKind::cp_async, "cp_async"), row(GroupKind::bulk, "bulk"),
                     row(GroupKind::wgmma, "wgmma"));

// A word with a meaning of its own: a variable or buffer of that name is written in backquotes.
bool reserved(std::string_view word);
// The name as it stands in the text.
std::string name(std::string_view raw);

// A floating-point constant: the shortest text that reads back as the same number of its type, with
// a point or an exponent; "inf", "-inf", "nan".
std::string number(double value, ElementType type);
// A string literal with \" and \\ and \n.
std::string quoted(std::string_view raw);

}  // namespace lay::ir::text
