#include "frontend/sema/shared_block.h"

#include <stdexcept>
#include <string>
#include <tuple>

#include "frontend/algebra/support/memo.h"
#include "frontend/sema/library.h"
#include "frontend/sema/values/record_fields.h"

namespace lay::sema {

namespace {

SharedBlock block_of(const Record& record) {
  // Only the library's records are asked for, which the tests hold to the PTX ISA.
  const RecordFields fields(record, [&](const std::string& what) {
    throw std::logic_error("internal: " + record.head + " is no block of shared memory: " + what);
  });
  SharedBlock made;
  made.rows = fields.layout("block");
  made.address = fields.of<Swizzle>("address", "a swizzle");
  const auto& layout = fields.of<Composed>("layout", "a swizzle of a layout");
  const auto* inner = std::get_if<Layout>(&layout.inner);
  const auto* swizzle = std::get_if<Swizzle>(&layout.outer);
  if (!inner || !swizzle || !layout.offset.is_literal(0) || !(*inner == made.rows))
    fields.complain("its layout is its block under a swizzle");
  made.elements = *swizzle;
  return made;
}

}  // namespace

SharedBlock shared_block(bool along_k, int width, ElementType element) {
  static Memo<std::tuple<bool, int, ElementType>, SharedBlock> known;
  return known({along_k, width, element}, [&] {
    return block_of(*library_record("atoms.sm90", along_k ? "smem_k" : "smem_mn",
                                    {{"width", std::int64_t{width}}, {"element", element}}));
  });
}

}  // namespace lay::sema
