#include "backend/plan/tiles/formed_product.h"

#include <utility>

namespace lay::plan {

namespace {

template <class Gemm>
tile::Product product_of(const Gemm& gemm, int parts) {
  tile::Product made{gemm.contraction, gemm.m,      gemm.n,      gemm.k,
                     gemm.batch,       gemm.a.load, gemm.b.load, parts};
  if (const auto& segments = gemm.segments)
    made.segments = tile::Segments{segments->by_row, segments->first_row, segments->first_tile,
                                   segments->row_of};
  return made;
}

std::optional<tile::Product> product_of(const Variant& variant) {
  const auto* gemm = std::get_if<Sm90Gemm>(&variant.how);
  if (!gemm) return std::nullopt;
  tile::Product made = product_of(*gemm, gemm->cluster[2]);
  // Which operand has the rows of the tensor cores' tile is no matter of order.
  if (gemm->swap_ab) {
    std::swap(made.m, made.n);
    std::swap(made.a, made.b);
  }
  return made;
}

}  // namespace

std::optional<std::variant<tile::Program, tile::NotTiled>> formed_product(const Plan& plan,
                                                                          const Variant& variant) {
  const auto product = product_of(variant);
  if (!product) return std::nullopt;
  return tile::form_product(variant.kernel ? variant.kernel : plan.kernel, *product);
}

}  // namespace lay::plan
