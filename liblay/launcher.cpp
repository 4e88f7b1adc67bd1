#include <algorithm>

#include "frontend/sema/kernel/kernel_call.h"
#include "liblay/objects.h"

namespace lay::api {
namespace {

using runtime::Region;

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    if (__builtin_mul_overflow(step, std::max<std::int64_t>(shape[i], 1), &step))
      throw Misuse{"`tensors[].shape` has more than 2^63 elements"};
  }
  return strides;
}

// Where the caller's tensor lies; nothing for an output that is not made yet.
std::optional<sema::Lying> lying_of(const lay_tensor& given, const sema::Tensor& tensor) {
  if (!given.shape && given.rank != 0) throw Misuse{"`tensors[].shape` is null"};
  if (!given.shape) {
    if (tensor.access != sema::Access::output) throw Misuse{"`tensors[].shape` is null"};
    return std::nullopt;
  }
  if (given.rank < 0) throw Misuse{"`tensors[].rank` is negative"};
  sema::Lying lying;
  lying.shape.assign(given.shape, given.shape + given.rank);
  if (std::any_of(lying.shape.begin(), lying.shape.end(), [](auto extent) { return extent < 0; }))
    throw Misuse{"`tensors[].shape` has a negative extent"};
  if (given.strides)
    lying.strides.assign(given.strides, given.strides + given.rank);
  else
    lying.strides = row_major(lying.shape);
  return lying;
}

// Returns true if the caller's tensor has bytes where the kernel's has elements of 4 bits.
bool has_joined(const lay_tensor& given, const sema::Tensor& tensor) {
  if (!is_half_byte(tensor.element) || !given.element) return false;
  const auto element = parse_element(given.element);
  return element == ElementType::u8 || element == ElementType::b8;
}

// The same memory with its elements counted: twice as many along the axis whose bytes lie side by
// side.
void count_elements(sema::Lying& lying, const sema::Tensor& tensor) {
  const auto unit = std::find(lying.strides.rbegin(), lying.strides.rend(), 1);
  if (unit == lying.strides.rend())
    throw DiagnosticError(
        "stride-mismatch",
        "two elements of " + tensor.name + " share a byte, and no axis of the bytes has stride 1");
  const auto axis = static_cast<std::size_t>(lying.strides.rend() - unit) - 1;
  for (std::size_t i = 0; i < lying.strides.size(); ++i) {
    std::int64_t& doubled = i == axis ? lying.shape[i] : lying.strides[i];
    if (__builtin_mul_overflow(doubled, 2, &doubled))
      throw Misuse{"`tensors[].shape` has more than 2^63 elements"};
  }
}

// The element type of the caller's tensor is the kernel's, or raw bits of its width, or bytes of
// two elements each.
void check_element(const lay_tensor& given, const sema::Tensor& tensor) {
  require(given.element, "tensors[].element");
  const auto element = parse_element(given.element);
  if (!element) throw Misuse{"`" + std::string(given.element) + "` is no element type"};
  const bool raw = bits(*element) == bits(tensor.element) && !is_float(*element) &&
                   is_float(tensor.element) && element_name(*element)[0] != 's';
  if (*element != tensor.element && !raw && !has_joined(given, tensor))
    throw DiagnosticError("argument-kind", tensor.name + " has elements of " +
                                               std::string(element_name(tensor.element)) +
                                               ", not " + given.element);
}

std::vector<runtime::DeviceTensor> tensors_of(const lay_launcher& launcher,
                                              const lay_tensor* tensors, std::size_t count) {
  const auto& wanted = launcher.kernel->tensors;
  if (count != wanted.size())
    throw Misuse{"`count` is " + std::to_string(count) + ": the kernel has " +
                 std::to_string(wanted.size()) + " tensors"};
  if (count > 0) require(tensors, "tensors");
  std::vector<runtime::DeviceTensor> all;
  for (std::size_t i = 0; i < count; ++i) {
    if (tensors[i].size != sizeof(lay_tensor))
      throw Misuse{"`tensors[].size` is not sizeof(lay_tensor)"};
    runtime::DeviceTensor tensor{lying_of(tensors[i], wanted[i]),
                                 reinterpret_cast<std::uintptr_t>(tensors[i].address)};
    if (tensor.lying) {
      check_element(tensors[i], wanted[i]);
      if (has_joined(tensors[i], wanted[i])) count_elements(*tensor.lying, wanted[i]);
    }
    all.push_back(std::move(tensor));
  }
  return all;
}

// Tells the caller how the outputs lie that it has not made yet.
void describe_outputs(lay_launcher& launcher, const Binding& sizes,
                      const std::vector<runtime::DeviceTensor>& given, lay_tensor* tensors) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].lying) continue;
    const sema::Tensor& tensor = launcher.kernel->tensors[i];
    const auto strides = sema::array_strides(tensor, sizes);
    if (!strides)
      throw DiagnosticError("stride-mismatch", "output " + tensor.name + " lies as " +
                                                   to_string(tensor.memory()) +
                                                   ", which no strides say: give the tensor");
    sema::Lying& lying = launcher.made[i];
    lying = {sema::array_shape(tensor, sizes), *strides};
    tensors[i].rank = static_cast<std::int32_t>(lying.shape.size());
    tensors[i].element = element_name(tensor.element).data();
    tensors[i].shape = lying.shape.data();
    tensors[i].strides = lying.strides.data();
  }
}

std::vector<sema::Number> numbers_of(const lay_launcher& launcher, const lay_value* const* scalars,
                                     std::size_t count) {
  const auto& wanted = launcher.kernel->scalars;
  if (count != wanted.size())
    throw Misuse{"`scalar_count` is " + std::to_string(count) + ": the kernel has " +
                 std::to_string(wanted.size()) + " scalars"};
  if (count > 0) require(scalars, "scalars");
  std::vector<sema::Number> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    require(scalars[i], "scalars[]");
    std::int64_t integer = 0;
    double real = 0;
    if (!is_float(wanted[i].type) && lay_value_to_integer(scalars[i], &integer) == LAY_RESULT_OK)
      numbers.emplace_back(integer);
    else if (is_float(wanted[i].type) && lay_value_to_real(scalars[i], &real) == LAY_RESULT_OK)
      numbers.emplace_back(real);
    else
      throw DiagnosticError("argument-kind", wanted[i].name + " is a number of " +
                                                 std::string(element_name(wanted[i].type)));
  }
  return numbers;
}

// What a launch is called with.
struct Arguments {
  const lay_tensor* tensors;
  std::size_t count;
  const lay_size* sizes;
  std::size_t size_count;
  const lay_value* const* scalars;
  std::size_t scalar_count;
  Region workspace;
};

// So many checked launches are kept.
constexpr std::size_t most_checked = 1024;

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A text that two launches share only if all of their arguments are equal.
std::string key_of(const Arguments& of) {
  std::string key;
  for (std::size_t i = 0; i < of.count; ++i) {
    const lay_tensor& tensor = of.tensors[i];
    append(key, tensor.size);
    append(key, tensor.rank);
    append(key, tensor.address);
    const bool lies = tensor.shape && tensor.rank > 0;
    const auto bytes = lies ? static_cast<std::size_t>(tensor.rank) * sizeof *tensor.shape : 0;
    append(key, lies);
    if (lies) key.append(reinterpret_cast<const char*>(tensor.shape), bytes);
    append(key, lies && tensor.strides);
    if (lies && tensor.strides) key.append(reinterpret_cast<const char*>(tensor.strides), bytes);
    key.append(tensor.element ? tensor.element : "").push_back('\0');
  }
  for (const auto& [name, value] : api::sizes_of(of.sizes, of.size_count)) {
    key.append(name).push_back('\0');
    append(key, value);
  }
  for (std::size_t i = 0; i < of.scalar_count; ++i) {
    require(of.scalars[i], "scalars[]");
    std::int64_t integer = 0;
    double real = 0;
    const bool whole = lay_value_to_integer(of.scalars[i], &integer) == LAY_RESULT_OK;
    if (!whole && lay_value_to_real(of.scalars[i], &real) != LAY_RESULT_OK)
      throw Misuse{"`scalars[]` is no known number"};
    append(key, whole);
    append(key, integer);
    append(key, real);
  }
  append(key, of.workspace.address);
  append(key, of.workspace.bytes);
  return key;
}

lay_launcher::Checked checked_launch(lay_launcher& launcher, const Arguments& of) {
  const auto given = tensors_of(launcher, of.tensors, of.count);
  for (const runtime::DeviceTensor& tensor : given)
    if (!tensor.lying) throw Misuse{"`tensors[].shape` is null"};
  const auto numbers = numbers_of(launcher, of.scalars, of.scalar_count);
  const Binding solved =
      launcher.device_kernel->sizes_of(given, api::sizes_of(of.sizes, of.size_count));
  const auto choice = launcher.device_kernel->choose(solved, given);
  const Region& workspace = of.workspace;
  if (workspace.bytes < choice.workspace || (choice.workspace > 0 && workspace.address == 0))
    throw DiagnosticError("too-small",
                          "the workspace has " +
                              std::to_string(workspace.address == 0 ? 0 : workspace.bytes) +
                              " bytes: variant `" + choice.variant->name + "` needs " +
                              std::to_string(choice.workspace));
  return {launcher.device_kernel->bind(choice, solved, numbers, given, workspace),
          choice.variant->name};
}

}  // namespace
}  // namespace lay::api

using namespace lay::api;
using namespace lay;

lay_result lay_launcher_new(lay_kernel* kernel, int32_t device, lay_launcher** launcher) {
  if (!kernel) return LAY_RESULT_MISUSE;
  ProgramState& state = *kernel->state;
  return guarded(state.context, &state.program.sources, [&] {
    require(launcher, "launcher");
    *launcher = nullptr;
    const runtime::KeptContext kept;
    std::string why;
    auto gpu = runtime::Gpu::open(&why, device);
    if (!gpu) throw runtime::NoGpu(why);
    auto made = std::make_unique<lay_launcher>();
    made->state = kernel->state;
    made->kernel = kernel->kernel;
    made->device_kernel =
        std::make_unique<runtime::DeviceKernel>(state.program.sources, kernel->kernel, *gpu);
    made->gpu = std::move(gpu);
    *launcher = made.release();
  });
}

void lay_launcher_free(lay_launcher* launcher) {
  if (!launcher) return;
  const runtime::KeptContext kept;
  try {
    launcher->gpu->device().use();
  } catch (const runtime::DriverError&) {
    // The driver is shutting down, and takes what was loaded with it.
  }
  delete launcher;
}

lay_result lay_launcher_prepare(lay_launcher* launcher, lay_tensor* tensors, size_t count,
                                const lay_size* sizes, size_t size_count, int64_t* workspace) {
  if (!launcher) return LAY_RESULT_MISUSE;
  ProgramState& state = *launcher->state;
  return guarded(state.context, &state.program.sources, [&] {
    require(workspace, "workspace");
    const runtime::KeptContext kept;
    const auto given = tensors_of(*launcher, tensors, count);
    const Binding solved =
        launcher->device_kernel->sizes_of(given, api::sizes_of(sizes, size_count));
    const auto choice = launcher->device_kernel->choose(solved, given);
    describe_outputs(*launcher, solved, given, tensors);
    launcher->variant = choice.variant->name;
    *workspace = choice.workspace;
  });
}

lay_result lay_launcher_launch(lay_launcher* launcher, const lay_tensor* tensors, size_t count,
                               const lay_size* sizes, size_t size_count,
                               const lay_value* const* scalars, size_t scalar_count,
                               void* workspace, int64_t workspace_bytes, void* stream) {
  if (!launcher) return LAY_RESULT_MISUSE;
  ProgramState& state = *launcher->state;
  return guarded(state.context, &state.program.sources, [&] {
    if (count > 0) require(tensors, "tensors");
    if (scalar_count > 0) require(scalars, "scalars");
    const runtime::KeptContext kept;
    const runtime::Region space = {reinterpret_cast<std::uintptr_t>(workspace), workspace_bytes};
    const Arguments arguments = {tensors, count, sizes, size_count, scalars, scalar_count, space};
    const std::string key = key_of(arguments);
    auto known = launcher->checked.find(key);
    if (known == launcher->checked.end()) {
      lay_launcher::Checked checked = checked_launch(*launcher, arguments);
      if (launcher->checked.size() >= most_checked) launcher->checked.clear();
      known = launcher->checked.emplace(key, std::move(checked)).first;
    }
    launcher->variant = known->second.variant;
    launcher->device_kernel->launch(known->second.bound, stream);
  });
}

const char* lay_launcher_variant(const lay_launcher* launcher) {
  return launcher ? launcher->variant.c_str() : nullptr;
}
