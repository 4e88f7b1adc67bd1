#include "runtime/build/manifest.h"

#include "runtime/io/json.h"
#include "runtime/io/value_json.h"

namespace lay::runtime {
namespace {

template <class Items, class Function>
std::string each(const Items& items, Function function) {
  std::vector<std::string> elements;
  for (const auto& item : items) elements.push_back(function(item));
  return json_array(elements);
}

std::string_view access_word(sema::Access access) {
  switch (access) {
    case sema::Access::input:
      return "input";
    case sema::Access::output:
      return "output";
    case sema::Access::inout:
      return "inout";
  }
  return "";
}

// A tensor in the caller's memory: the layout maps a coordinate to an offset in elements.
std::string tensor_json(const sema::Tensor& tensor) {
  return JsonObject()
      .string("name", tensor.name)
      .string("element", element_name(tensor.element))
      .string("layout", to_string(tensor.memory()))
      .string("access", access_word(tensor.access))
      .text();
}

// A condition that the launcher checks before every launch of the kernel.
std::string guard_json(const Guard& guard) {
  JsonObject object;
  object.string("condition", guard.to_string()).string("origin", guard.origin);
  JsonObject breaks;
  for (const auto& [name, value] : guard.breaks) breaks.integer(name, value);
  if (!guard.breaks.empty()) object.raw("smallest_break", breaks.text());
  return object.text();
}

// A descriptor for TMA that the launcher encodes (cuTensorMapEncodeTiled) for the tensor of this
// name: modes of its layout from the fastest on, the box in the same order, the swizzle's span in
// bytes (0: none); zeros outside. With im2col (cuTensorMapEncodeIm2col) the box is of channels and
// pixels, and of the modes between the fastest and the slowest the base pixels are `count`, `step`
// apart, from `first` on.
std::string tensor_map_json(const ir::Kernel& kernel, const ir::TensorMap& map) {
  const auto numbers = [](const std::vector<int>& list) {
    return each(list, [](int n) { return std::to_string(n); });
  };
  const ir::Buffer& buffer = kernel.buffers.at(static_cast<std::size_t>(map.tensor.index));
  JsonObject made;
  made.string("kind", "tensor_map")
      .string("name", map.name)
      .string("tensor", buffer.name)
      .string("element", element_name(buffer.element))
      .string("layout", to_string(buffer.layout))
      .raw("order", numbers(map.order))
      .raw("box", numbers(map.box))
      .integer("swizzle_bytes", map.swizzle ? 16 << map.swizzle->b : 0);
  if (!map.im2col.empty())
    made.raw("im2col", each(map.im2col, [](const ir::BasePixels& along) {
               return JsonObject()
                   .string("first", along.first.to_string())
                   .string("count", along.count.to_string())
                   .integer("step", along.step)
                   .text();
             }));
  return made.text();
}

// The function's parameters in order: the pointers of the global buffers, sizes (32-bit) and
// scalars, tensor maps. A buffer in workspace has its offset in bytes, an expression in the
// sizes.
std::string arguments_json(const ir::Kernel& kernel) {
  std::vector<std::string> arguments;
  for (const auto& buffer : kernel.buffers) {
    if (buffer.space != ir::Space::global) continue;
    JsonObject object;
    object.string("kind", buffer.workspace ? "workspace" : "pointer").string("name", buffer.name);
    if (buffer.workspace) object.string("offset_bytes", buffer.offset.to_string());
    arguments.push_back(object.text());
  }
  for (const auto& param : kernel.params)
    arguments.push_back(JsonObject()
                            .string("kind", param.is_size ? "size" : "scalar")
                            .string("name", param.name)
                            .string("type", element_name(param.type))
                            .text());
  for (const auto& map : kernel.tensor_maps) arguments.push_back(tensor_map_json(kernel, map));
  return json_array(arguments);
}

// The grid's extents as Lay expressions in the kernel's sizes.
std::string launch_json(const BuiltLaunch& built) {
  const ir::Launch& launch = built.kernel.launch;
  return JsonObject()
      .raw("grid",
           each(launch.grid, [](const Int& extent) { return json_string(extent.to_string()); }))
      .raw("cluster", each(launch.cluster, [](int extent) { return std::to_string(extent); }))
      .integer("threads", launch.threads)
      .boolean("persistent", launch.persistent)
      .boolean("overlaps", built.emitted.overlaps)
      .integer("dynamic_shared_bytes", built.emitted.dynamic_bytes)
      .text();
}

// One launch: a function, what it takes, and where its code is.
std::string built_launch_json(const BuiltLaunch& built) {
  const auto file = [](const BuiltFile& f) {
    return JsonObject()
        .string("name", f.name)
        .string("kind", f.kind)
        .string("target", f.target)
        .text();
  };
  return JsonObject()
      .string("function", built.emitted.function)
      .raw("arguments", arguments_json(built.kernel))
      .raw("launch", launch_json(built))
      .raw("files", each(built.files, file))
      .text();
}

// One way to execute the kernel, right where its conditions hold: stages and then launches, in
// order on one stream. They share the same workspace, aligned to 128 bytes, of any contents, as
// large as the variant or a variant of its stages asks for: memory that nobody else uses until the
// last launch is done. A launcher takes the first variant for its GPU, one of the targets, whose
// conditions hold; of one portfolio, among those for its GPU, that of least cost, the first of
// equal ones.
std::string variant_json(const sema::Kernel& kernel, const BuiltVariant& built) {
  const plan::Variant& variant = *built.variant;
  const auto alignment = [&](const plan::Alignment& a) {
    return JsonObject()
        .string("tensor", kernel.tensors.at(static_cast<std::size_t>(a.tensor)).name)
        .integer("bytes", a.bytes)
        .text();
  };
  JsonObject made;
  made.string("name", variant.name).raw("when", each(variant.when, [](const Predicate& p) {
                                          return json_string(p.to_string());
                                        }));
  if (variant.cost)
    made.string("cost", variant.cost->value.to_string())
        .integer("portfolio", variant.cost->portfolio);
  return made.raw("aligned", each(variant.aligned, alignment))
      .raw("targets", json_strings(built.targets))
      .string("workspace_bytes", variant.workspace.to_string())
      .raw("stages", each(built.stages, [](std::size_t stage) { return std::to_string(stage); }))
      .raw("launches", each(built.launches, built_launch_json))
      .text();
}

// A kernel that is launched before those of the variants that name it by its number: of its own
// variants one is taken as of the kernel's. Its tensors are the kernel's, by name, or lie in
// workspace.
std::string stage_json(const BuiltStage& built) {
  const sema::Kernel& kernel = *built.plan->kernel;
  return JsonObject()
      .string("name", kernel.name)
      .raw("tensors", each(kernel.tensors, tensor_json))
      .raw("variants",
           each(built.variants, [&](const BuiltVariant& v) { return variant_json(kernel, v); }))
      .text();
}

// The same, and its shape and strides as nested arrays: `layout` as data.
std::string taken_apart_json(const sema::Tensor& tensor) {
  std::string json = tensor_json(tensor);
  json.pop_back();
  return json + ",\"shape\":" + to_json(tensor.layout.shape) +
         ",\"stride\":" + to_json(tensor.layout.stride) + "}";
}

// What is said of a kernel itself, each tensor by `of_tensor`.
JsonObject described(const sema::Kernel& kernel, std::string (*of_tensor)(const sema::Tensor&)) {
  std::vector<std::string> dims;
  for (const auto& dim : kernel.dims) dims.push_back(dim.name);
  const auto scalar = [](const sema::Scalar& s) {
    return JsonObject().string("name", s.name).string("type", element_name(s.type)).text();
  };
  JsonObject object;
  object.string("name", kernel.name)
      .raw("sizes", json_strings(dims))
      .raw("tensors", each(kernel.tensors, of_tensor))
      .raw("scalars", each(kernel.scalars, scalar))
      .raw("guards", each(kernel.guards, guard_json));
  return object;
}

std::string kernel_json(const BuiltKernel& built) {
  const sema::Kernel& kernel = *built.kernel;
  return described(kernel, tensor_json)
      .raw("stages", each(built.stages, stage_json))
      .raw("variants",
           each(built.variants, [&](const BuiltVariant& v) { return variant_json(kernel, v); }))
      .text();
}

}  // namespace

std::string signature_json(const sema::Kernel& kernel) {
  std::vector<std::string> order;
  for (const sema::SignatureEntry& entry : kernel.signature) {
    const auto id = static_cast<std::size_t>(entry.id);
    order.push_back(entry.is_scalar ? kernel.scalars[id].name : kernel.tensors[id].name);
  }
  return described(kernel, taken_apart_json).raw("signature", json_strings(order)).text();
}

std::string manifest(const std::string& script, const std::vector<BuiltKernel>& kernels) {
  return json_indented(JsonObject()
                           .integer("manifest", manifest_version)
                           .string("schema", "lay-manifest-" + std::to_string(manifest_version))
                           .string("lay", LAY_VERSION)
                           .string("script", script)
                           .raw("kernels", each(kernels, kernel_json))
                           .text());
}

}  // namespace lay::runtime
