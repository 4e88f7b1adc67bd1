#include "runtime/gpu/launch_check.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "frontend/algebra/layouts/inner_layout.h"

namespace lay::runtime {
namespace {

std::string number(std::int64_t value) {
  return std::to_string(value);
}

// The sizes of the arguments as words: "M = 4, N = 7".
std::string sizes_text(const ir::Kernel& kernel, const Binding& sizes) {
  std::string text;
  for (const ir::Param& param : kernel.params)
    if (param.is_size)
      if (const auto value = param.symbol.evaluate(sizes))
        text += (text.empty() ? "" : ", ") + param.name + " = " + number(*value);
  return text;
}

Outcome check_sizes(const ir::Kernel& kernel, const Binding& sizes) {
  for (const ir::Param& param : kernel.params) {
    if (!param.is_size) continue;
    const auto value = param.symbol.evaluate(sizes);
    if (!value) return {Status::unknown_size, param.name + " has no value"};
    if (*value < 0) return {Status::negative_size, param.name + " is " + number(*value)};
    if (*value > largest_extent)
      return {Status::extent_too_large, param.name + " is " + number(*value) +
                                            ", and the largest extent is " +
                                            number(largest_extent)};
  }
  return {};
}

// Adds (extent - 1) * stride of every leaf; false where that overflows or is not known.
bool add_span(const Tuple& shape, const Tuple& stride, const Binding& sizes, Span64& span) {
  if (shape.is_tuple()) {
    for (int i = 0; i < shape.rank(); ++i)
      if (!add_span(shape[i], stride[i], sizes, span)) return false;
    return true;
  }
  const auto extent = shape.value().evaluate(sizes), step = stride.value().evaluate(sizes);
  std::int64_t reach = 0;
  if (!extent || !step || *extent < 0 || *step < 0) return false;
  if (__builtin_mul_overflow(span.elements, *extent, &span.elements)) return false;
  if (*extent == 0) return true;
  return !__builtin_mul_overflow(*extent - 1, *step, &reach) &&
         !__builtin_add_overflow(span.bytes, reach, &span.bytes);
}

struct Placed {
  const ir::Buffer* buffer;
  Region region;
  std::int64_t bytes;  // that the kernel may touch
};

Outcome check_buffer(const ir::Buffer& buffer, const Region& region, const Binding& sizes,
                     std::vector<Placed>& placed) {
  const auto span = span_of(buffer, sizes);
  if (!span)
    return {Status::extent_too_large,
            buffer.name + ": the offsets of its layout do not fit 64 bits at these sizes"};
  if (span->elements == 0) return {};
  if (region.address == 0) return {Status::null_pointer, buffer.name + " is a null pointer"};
  if (span->bytes > region.bytes)
    return {Status::too_small, buffer.name + ": its layout spans " + number(span->bytes) +
                                   " bytes, and " + number(region.bytes) + " were given"};
  const auto alignment =
      static_cast<std::uint64_t>(std::max(buffer.alignment, std::max(1, bits(buffer.element) / 8)));
  if (region.address % alignment != 0)
    return {Status::misaligned, buffer.name + ": its address must be a multiple of " +
                                    std::to_string(alignment) + " bytes"};
  placed.push_back({&buffer, region, span->bytes});
  return {};
}

Outcome check_overlap(const std::vector<Placed>& placed) {
  for (const Placed& out : placed) {
    if (!out.buffer->written) continue;
    for (const Placed& other : placed) {
      if (&out == &other) continue;
      const std::uint64_t out_end = out.region.address + static_cast<std::uint64_t>(out.bytes);
      const std::uint64_t other_end =
          other.region.address + static_cast<std::uint64_t>(other.bytes);
      if (out.region.address < other_end && other.region.address < out_end)
        return {Status::overlap, "the output " + out.buffer->name + " lies over " +
                                     other.buffer->name + " in memory"};
    }
  }
  return {};
}

// Index arithmetic is of 32 bits: what it counts, tiles too, must fit.
Outcome check_counts(const ir::Kernel& kernel, const Binding& sizes) {
  for (const ir::Expr& expr : kernel.exprs) {
    const auto* size = std::get_if<ir::Size>(&expr.node);
    if (!size || expr.type != ElementType::s32 || size->value.is_literal() || size->value.dim_id())
      continue;
    const auto value = size->value.evaluate(sizes);
    if (!value || *value < -largest_extent || *value > largest_extent)
      return {
          Status::extent_too_large,
          "`" + size->value.to_string() + "` does not fit 32 bits at " + sizes_text(kernel, sizes)};
  }
  return {};
}

Outcome check_grid(const ir::Kernel& kernel, const LaunchArguments& arguments,
                   const LaunchLimits& limits, std::array<std::int64_t, 3>& grid) {
  for (std::size_t i = 0; i < 3; ++i) {
    const auto extent = kernel.launch.grid[i].evaluate(arguments.sizes);
    if (!extent || *extent < 0)
      return {Status::extent_too_large, "the number of blocks does not fit 64 bits at " +
                                            sizes_text(kernel, arguments.sizes)};
    grid[i] = *extent;
    if (*extent > limits.grid[i])
      return {Status::grid_too_large, "the kernel needs " + number(*extent) + " blocks along " +
                                          std::string(1, "xyz"[i]) + ", and the device takes " +
                                          number(limits.grid[i])};
  }
  return {};
}

}  // namespace

std::string_view status_name(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::unknown_size:
      return "unknown-size";
    case Status::negative_size:
      return "negative-size";
    case Status::extent_too_large:
      return "extent-too-large";
    case Status::guard_failed:
      return "guard-failed";
    case Status::missing_argument:
      return "missing-argument";
    case Status::null_pointer:
      return "null-pointer";
    case Status::misaligned:
      return "misaligned";
    case Status::too_small:
      return "too-small";
    case Status::overlap:
      return "overlap";
    case Status::grid_too_large:
      return "grid-too-large";
    case Status::shared_memory:
      return "shared-memory";
    case Status::no_variant:
      return "no-variant";
    case Status::no_device:
      return "no-device";
    case Status::no_compiler:
      return "no-compiler";
    case Status::compile_failed:
      return "compile-failed";
    case Status::unsupported:
      return "unsupported";
    case Status::out_of_memory:
      return "out-of-memory";
    case Status::device_failed:
      return "device-failed";
  }
  return "ok";
}

std::optional<Span64> span_of(const ir::Buffer& buffer, const Binding& sizes) {
  const auto* composed = std::get_if<Composed>(&buffer.layout);
  const Layout* layout = inner_layout(buffer.layout);
  if (!layout || layout->has_basis()) return std::nullopt;
  std::int64_t block = 1;
  if (composed) {
    const auto* swizzle = std::get_if<Swizzle>(&composed->outer);
    if (!swizzle || !composed->offset.is_literal(0)) return std::nullopt;
    // The swizzle permutes whole blocks of offsets.
    const auto moved = static_cast<std::uint64_t>(swizzle->source_mask() | swizzle->target_mask());
    block = std::int64_t{1} << std::bit_width(moved);
  }
  Span64 span{1, 0};
  if (!add_span(layout->shape, layout->stride, sizes, span)) return std::nullopt;
  if (span.elements == 0) return Span64{0, 0};
  // So far the offset of the last element.
  std::int64_t in_bits = 0;
  if (__builtin_add_overflow(span.bytes, block, &span.bytes)) return std::nullopt;
  span.bytes = span.bytes / block * block;
  if (__builtin_mul_overflow(span.bytes, std::int64_t{bits(buffer.element)}, &in_bits))
    return std::nullopt;
  span.bytes = in_bits / 8 + (in_bits % 8 != 0);
  return span;
}

Outcome check_guards(std::span<const Guard> guards, const Binding& sizes) {
  for (const Guard& guard : guards) {
    if (guard.path.evaluate(sizes) == false) continue;
    if (guard.predicate.evaluate(sizes) != true)
      return {Status::guard_failed,
              "the kernel's condition `" + guard.to_string() + "` does not hold"};
  }
  return {};
}

Checked check_launch(const ir::Kernel& kernel, const LaunchArguments& arguments,
                     const LaunchLimits& limits, std::int64_t shared_bytes) {
  Checked checked;
  Outcome& outcome = checked.outcome;
  outcome = check_sizes(kernel, arguments.sizes);
  if (!outcome.ok()) return checked;

  std::size_t given = 0;
  bool has_output = false, has_element = false;
  std::vector<Placed> placed;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.space != ir::Space::global) continue;
    if (given == arguments.buffers.size()) {
      outcome = {Status::missing_argument, buffer.name + " was not given"};
      return checked;
    }
    outcome = check_buffer(buffer, arguments.buffers[given++], arguments.sizes, placed);
    if (!outcome.ok()) return checked;
    if (!buffer.written || buffer.workspace) continue;
    has_output = true;
    has_element = has_element || span_of(buffer, arguments.sizes)->elements > 0;
  }
  if (has_output && !has_element) {
    checked.nothing_to_do = true;
    return checked;
  }
  for (const Predicate& assumed : kernel.assumptions)
    if (assumed.evaluate(arguments.sizes) != true) {
      outcome = {Status::guard_failed, "the kernel needs `" + assumed.to_string() + "`, at " +
                                           sizes_text(kernel, arguments.sizes)};
      return checked;
    }
  const auto is_scalar = [](const ir::Param& param) { return !param.is_size; };
  if (std::count_if(kernel.params.begin(), kernel.params.end(), is_scalar) >
      std::ssize(arguments.scalars)) {
    outcome = {Status::missing_argument, "a scalar was not given"};
    return checked;
  }
  outcome = check_overlap(placed);
  if (outcome.ok()) outcome = check_grid(kernel, arguments, limits, checked.grid);
  if (outcome.ok()) outcome = check_counts(kernel, arguments.sizes);
  if (outcome.ok() &&
      (kernel.launch.threads > limits.threads || shared_bytes > limits.shared_bytes))
    outcome = {Status::shared_memory,
               "a block needs " + number(kernel.launch.threads) + " threads and " +
                   number(shared_bytes) + " bytes of shared memory, and the device has " +
                   number(limits.threads) + " and " + number(limits.shared_bytes)};
  checked.nothing_to_do =
      std::find(checked.grid.begin(), checked.grid.end(), 0) != checked.grid.end();
  return checked;
}

}  // namespace lay::runtime
