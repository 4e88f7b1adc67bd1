#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>

#include "backend/ir/text/print.h"
#include "frontend/algebra/layouts/operations.h"
#include "runtime/bundle/bundle.h"
#include "runtime/bundle/c_text.h"
#include "runtime/bundle/interface_text.h"
#include "runtime/bundle/launcher_files.h"
#include "runtime/bundle/tvm_ffi_text.h"
#include "runtime/gpu/device.h"
#include "runtime/gpu/launch_check.h"
#include "runtime/gpu/tensor_map.h"

namespace lay::runtime {
namespace {

std::string number(std::size_t value) {
  return std::to_string(value);
}

// The bytes as 64-bit words, the last one filled up with zeros: a PTX text so ends with one.
std::string words_of(const std::string& image) {
  std::string text;
  text.reserve(image.size() * 3);
  for (std::size_t at = 0; at <= image.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, image.data() + at, std::min<std::size_t>(8, image.size() - at));
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, word, 16).ptr;
    text += at % 64 == 0 ? "\n    " : " ";
    text += "0x" + std::string(digits, end) + ",";
  }
  return text;
}

// Where an image runs, by the architecture that it was compiled for: "sm_90a".
std::string target_row(const std::string& word, bool is_ptx) {
  const std::string architecture = target_named(word).architecture;
  const auto digits = architecture.find_first_of("0123456789");
  int capability = 0;
  const char* end = architecture.data() + architecture.size();
  const auto parsed = std::from_chars(architecture.data() + digits, end, capability);
  const bool exact = parsed.ptr != end;  // "a" behind it
  return "{" + c_string(word) + ", " + std::to_string(capability / 10) + ", " +
         std::to_string(capability % 10) + ", " + (exact ? "1" : "0") + ", " +
         (is_ptx ? "1" : "0") + "}";
}

// One kernel's part of the source.
class KernelText {
 public:
  KernelText(std::string name, const std::string& script, const BuiltKernel& built)
      : name_(std::move(name)), script_(script), built_(built), names_(*built.kernel) {}

  std::string text() {
    collect_targets();
    // The functions of launches come to know the images.
    std::string stages, variants;
    for (std::size_t i = 0; i < built_.stages.size(); ++i)
      stages += variants_text(name_ + "_stage_" + number(i), *built_.stages[i].plan->kernel,
                              built_.stages[i].variants);
    variants = variants_text(name_, *built_.kernel, built_.variants);
    return "\n/* ==== " + name_ + " ==== */\n" + images_text() + arguments_text() + launches_ +
           stages + variants + interface_text(name_, targets_.size(), *built_.kernel, names_) +
           describe_text() + tvm_ffi_text(name_, *built_.kernel, names_, has_workspace());
  }

 private:
  void collect_targets() {
    const auto collect = [&](const std::vector<BuiltVariant>& variants) {
      for (const auto& variant : variants)
        for (const auto& word : variant.targets)
          if (std::find(targets_.begin(), targets_.end(), word) == targets_.end())
            targets_.push_back(word);
    };
    collect(built_.variants);
  }

  // Returns true if a variant of the kernel or of a stage may need workspace.
  bool has_workspace() const {
    const auto needs = [](const std::vector<BuiltVariant>& variants) {
      return std::any_of(variants.begin(), variants.end(),
                         [](const BuiltVariant& built) { return !built.variant->workspace.is(0); });
    };
    return needs(built_.variants) ||
           std::any_of(built_.stages.begin(), built_.stages.end(),
                       [&](const BuiltStage& stage) { return needs(stage.variants); });
  }

  std::size_t target(const std::string& word) const {
    return static_cast<std::size_t>(std::find(targets_.begin(), targets_.end(), word) -
                                    targets_.begin());
  }

  // The number of a launch's image for a target.
  std::size_t image_of(const BuiltLaunch& launch, const std::string& word) {
    const auto compiled =
        std::find_if(launch.files.begin(), launch.files.end(),
                     [&](const BuiltFile& file) { return file.image && file.target == word; });
    const auto known = images_.find(compiled->name);
    if (known != images_.end()) return known->second;
    const std::string array = name_ + "_image_" + number(images_.size());
    image_arrays_ += "\n/* " + compiled->name + " */\nstatic const uint64_t " + array + "[] = {" +
                     words_of(*compiled->image) + "\n};\n";
    is_ptx_ = compiled->kind == "ptx";
    const ir::Launch& shape = launch.kernel.launch;
    image_rows_ += "    {" + array + ", " + c_string(launch.emitted.function) + ", " +
                   number(target(word)) + ", " + std::to_string(launch.emitted.dynamic_bytes) +
                   ", " + std::to_string(launch.emitted.shared_bytes) + ", " +
                   std::to_string(shape.threads) + ", " +
                   std::to_string(shape.persistent ? shape.cluster[0] : 0) +
                   (launch.emitted.overlaps ? ", 1" : ", 0") + "},\n";
    const std::size_t made = images_.size();
    return images_.emplace(compiled->name, made).first->second;
  }

  std::string images_text() const {
    std::string text = image_arrays_ + "\nstatic const lay_target " + name_ + "_targets[] = {";
    for (std::size_t i = 0; i < targets_.size(); ++i)
      text += (i > 0 ? ", " : "") + target_row(targets_[i], is_ptx_);
    const std::string count = number(images_.size());
    return text + "};\nstatic const lay_image " + name_ + "_images[] = {\n" + image_rows_ +
           "};\nstatic void* " + name_ + "_libraries[" + count + "];\nstatic void* " + name_ +
           "_kernels[" + count + "];\nstatic lay_kernel_images " + name_ + "_state = {\n    " +
           c_string(name_) + ", " + name_ + "_targets, " + number(targets_.size()) + ", " + name_ +
           "_images, " + count + ", " + name_ + "_libraries, " + name_ + "_kernels, {NULL}};\n";
  }

  // The struct's size, the sizes, the guards, and the tensors' addresses.
  std::string arguments_text() const {
    const sema::Kernel& kernel = *built_.kernel;
    const std::string tensors = number(std::max<std::size_t>(1, kernel.tensors.size()));
    std::string text = "\nstatic void " + name_ + "_tensors(const " + name_ +
                       "_args* a, lay_tensor* tensors) {\n  (void)a;\n  (void)tensors;\n";
    std::string is_empty = "1";
    for (std::size_t i = 0; i < kernel.tensors.size(); ++i) {
      const sema::Tensor& tensor = kernel.tensors[i];
      const std::string at = "  tensors[" + number(i) + "].";
      const CSpan span = c_span(tensor.memory(), tensor.element, names_);
      const bool is_written = tensor.access != sema::Access::input;
      text += at + "name = " + c_string(tensor.name) + ";\n" + at + "address = (uintptr_t)a->" +
              names_.of(tensor.name) + ";\n" + at + "elements = " + span.elements + ";\n" + at +
              "bytes = " + span.bytes + ";\n" + at + "written = " + (is_written ? "1" : "0") +
              ";\n" + at + "alignment = " + std::to_string(std::max(1, tensor.element_bytes())) +
              ";\n";
      if (is_written)
        is_empty += " && lay_equal(tensors[" + number(i) + "].elements, lay_of(0)) == 1";
    }
    text += "}\n\nstatic lay_status " + name_ + "_check_arguments(const " + name_ +
            "_args* a, lay_tensor* tensors, int* nothing_to_do,\n    lay_message* why) {\n" +
            "  lay_status status;\n  *nothing_to_do = 0;\n" +
            "  if (!a || a->size != sizeof *a)\n    return lay_say(why, LAY_WRONG_STRUCT, "
            "\"%s: the struct of arguments is null or of another size than \"\n"
            "        \"the bundle's\", " +
            c_string(name_) + ");\n";
    for (const auto& dim : kernel.dims) {
      text += "  status = lay_check_size(" + c_string(dim.name) + ", a->" +
              names_.of(*dim.symbol.dim_id()) + ", why);\n  if (status != LAY_OK) return status;\n";
    }
    for (const Guard& guard : kernel.guards) text += guard_text(guard);
    return text + "  " + name_ + "_tensors(a, tensors);\n  *nothing_to_do = " + is_empty +
           ";\n  status = lay_check_tensors(tensors, " + number(kernel.tensors.size()) +
           ", why);\n  return status;\n}\n" + "enum { " + name_ + "_tensor_count = " + tensors +
           " };\n";
  }

  std::string guard_text(const Guard& guard) const {
    std::map<DimId, std::string> dims;
    guard.path.collect_dims(dims);
    guard.predicate.collect_dims(dims);
    std::string broken = c_truth(guard.predicate, names_) + " != 1";
    if (!guard.path.is_always()) broken = c_truth(guard.path, names_) + " != 0 && " + broken;
    return refusal_text(broken, name_ + ": the guard `" + guard.to_string() + "` does not hold",
                        ": ", dims);
  }

  // Refuses where the condition is broken, by the sentence and the values of the sizes.
  std::string refusal_text(const std::string& broken, const std::string& sentence,
                           const std::string& before_values,
                           const std::map<DimId, std::string>& dims) const {
    const CValues values = c_values(dims, names_);
    return "  if (" + broken + ")\n    return lay_say(why, LAY_GUARD_FAILED, " +
           c_format(sentence) +
           (values.format.empty() ? "" : " " + c_string(before_values + values.format)) +
           values.arguments + ");\n";
  }

  // The function of one launch, the same for all variants that begin with it; returns its name.
  std::string launch_of(const BuiltLaunch& launch) {
    const std::string identity = launch.emitted.function + "\n" + ir::print(launch.kernel);
    const auto known = launch_names_.find(identity);
    if (known != launch_names_.end()) return known->second;
    std::string name = name_ + "_run_" + number(launch_names_.size());
    launch_names_.emplace(identity, name);
    launches_ += launch_text(name, launch);
    return name;
  }

  std::string launch_text(const std::string& name, const BuiltLaunch& launch) const {
    const ir::Kernel& kernel = launch.kernel;
    std::string declared, checked, encoded, values;
    int count = 0;
    const auto add = [&](const std::string& type, const std::string& value) {
      const std::string variable = "p" + std::to_string(count++);
      declared += "  " + type + " " + variable + " = " + value + ";\n";
      values += (values.empty() ? "&" : ", &") + variable;
    };
    std::map<int, std::string> addresses;  // of global buffers
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
      const ir::Buffer& buffer = kernel.buffers[i];
      if (buffer.space != ir::Space::global) continue;
      addresses[static_cast<int>(i)] = "p" + std::to_string(count);
      if (buffer.workspace)
        add("const void*",
            "workspace ? workspace + " + c_number(buffer.offset, names_) + ".value : NULL");
      else
        add("const void*", "a->" + names_.of(buffer.name));
    }
    for (const ir::Param& param : kernel.params) {
      if (param.is_size) {
        add("int32_t", "(int32_t)" + c_number(param.symbol, names_) + ".value");
      } else {
        const std::string value = "a->" + names_.of(param.name);
        if (param.type == ElementType::f16)
          add("uint16_t", "lay_f16(" + value + ")");
        else if (param.type == ElementType::bf16)
          add("uint16_t", "lay_bf16(" + value + ")");
        else if (param.type == ElementType::pred)
          add("uint8_t", value + " != 0");
        else
          add(c_scalar_type(param.type), value);
      }
    }
    for (const ir::TensorMap& map : kernel.tensor_maps) {
      const std::string variable = "map" + std::to_string(&map - kernel.tensor_maps.data());
      declared += "  lay_tensor_map " + variable + ";\n";
      values += (values.empty() ? "&" : ", &") + variable;
      encoded += encode_text(variable, kernel, map, addresses.at(map.tensor.index));
    }
    const std::string bad = "\n  if (status != LAY_OK) return status;\n";
    for (const Predicate& assumed : kernel.assumptions) {
      std::map<DimId, std::string> dims;
      assumed.collect_dims(dims);
      checked += refusal_text(c_truth(assumed, names_) + " != 1",
                              name_ + " needs `" + assumed.to_string() + "`", ", and ", dims);
    }
    std::vector<Int> counted;
    for (const ir::Expr& expr : kernel.exprs) {
      const auto* size = std::get_if<ir::Size>(&expr.node);
      if (!size || expr.type != ElementType::s32 || size->value.is_literal() ||
          size->value.dim_id() ||
          std::find(counted.begin(), counted.end(), size->value) != counted.end())
        continue;
      counted.push_back(size->value);
      checked += "  status = lay_check_count(" + c_number(size->value, names_) + ", " +
                 c_string(size->value.to_string()) + ", why);" + bad;
    }
    std::string text = "\n/* " + launch.emitted.function + " */\nstatic lay_status " + name +
                       "(const " + name_ +
                       "_args* a, unsigned char* workspace,\n    const "
                       "lay_prepared* ready, int image, lay_stream stream, lay_message* why) {\n" +
                       declared + "  void* values[] = {" + (values.empty() ? "NULL" : values) +
                       "};\n  lay_number grid[3];\n  lay_status status;\n  (void)a;\n"
                       "  (void)workspace;\n";
    for (std::size_t i = 0; i < 3; ++i)
      text += "  grid[" + number(i) + "] = " + c_number(kernel.launch.grid[i], names_) + ";\n";
    return text + "  status = lay_check_grid(" + c_string(name_) + ", grid, why);" + bad + checked +
           "  if (!ready) return LAY_OK; /* only checked */\n" + encoded + "  return lay_launch(&" +
           name_ + "_state, ready, image, grid, values, stream, why);\n}\n";
  }

  std::string encode_text(const std::string& variable, const ir::Kernel& kernel,
                          const ir::TensorMap& map, const std::string& address) const {
    const ir::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(map.tensor.index)];
    const Layout& layout = std::get<Layout>(buffer.layout);
    const std::string rank = number(map.order.size());
    std::string text = "  {\n    lay_number extents[" + rank + "], strides[" + rank +
                       "];\n    lay_mapped tensor;\n    static const uint32_t box[] = {";
    for (std::size_t i = 0; i < map.box.size(); ++i)
      text += (i > 0 ? ", " : "") + std::to_string(map.box[i]);
    text += "};\n";
    std::string extents;
    for (std::size_t i = 0; i < map.order.size(); ++i) {
      const Layout mode = layout.shape.is_tuple() ? layout[map.order[i]] : layout;
      extents += "    extents[" + number(i) + "] = " + c_number(size(mode.shape), names_) + ";\n";
      if (i > 0)
        extents += "    strides[" + number(i - 1) +
                   "] = " + c_number(mode.stride.value() * (bits(buffer.element) / 8), names_) +
                   ";\n";
    }
    std::string base;
    if (!map.im2col.empty()) {
      const std::string modes = number(map.im2col.size());
      std::string steps = "1, ";
      text += "    lay_number firsts[" + modes + "], counts[" + modes + "];\n";
      for (std::size_t i = 0; i < map.im2col.size(); ++i) {
        const ir::BasePixels& along = map.im2col[i];
        base += "    firsts[" + number(i) + "] = " + c_number(along.first, names_) +
                ";\n    counts[" + number(i) + "] = " + c_number(along.count, names_) + ";\n";
        steps += std::to_string(along.step) + ", ";
      }
      text += "    static const uint32_t steps[] = {" + steps + "1};\n";
    }
    text += extents + base;
    return text + "    tensor.address = " + address + ";\n    tensor.dims = " + rank +
           ";\n    tensor.extents = extents;\n    tensor.strides = strides;\n"
           "    status = lay_encode" +
           (map.im2col.empty() ? "" : "_im2col") + "(&" + variable + ", " +
           std::to_string(tensor_map_type(buffer.element)) + ", &tensor, box,\n        " +
           (map.im2col.empty() ? "" : "firsts, counts, steps, ") +
           std::to_string(map.swizzle ? map.swizzle->b : 0) +
           ", why);\n    if (status != LAY_OK) return status;\n  }\n";
  }

  // Multiples that the addresses must be of, by tensor: those of the variant, which is one of the
  // kernel `own`, and of its launches.
  std::map<std::string, int> alignments(const BuiltVariant& built, const sema::Kernel& own) const {
    std::map<std::string, int> bytes;
    const sema::Kernel& kernel = *built_.kernel;
    const auto need = [&](const std::string& tensor, int multiple) {
      const auto is_argument = [&](const sema::Tensor& t) { return t.name == tensor; };
      if (std::any_of(kernel.tensors.begin(), kernel.tensors.end(), is_argument))
        bytes[tensor] = std::max(bytes[tensor], multiple);
    };
    for (const plan::Alignment& aligned : built.variant->aligned)
      need(own.tensor(aligned.tensor).name, aligned.bytes);
    for (const auto& launch : built.launches)
      for (const auto& buffer : launch.kernel.buffers)
        if (buffer.space == ir::Space::global && !buffer.workspace)
          need(buffer.name, buffer.alignment);
    return bytes;
  }

  // A variant for a target: its number, whether it takes the arguments, its cost in a portfolio.
  struct Choice {
    std::size_t variant;
    std::string takes;
    std::optional<plan::Cost> cost;
  };

  // Returns the number of the variant to take: plan::chosen_variant.
  std::string choose_text(const std::string& name, const std::vector<Choice>& choices) const {
    std::string text;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const Choice& one = choices[i];
      if (!one.cost) {
        text += "    if (" + one.takes + ") return " + number(one.variant) + ";\n";
        continue;
      }
      const std::string variant = number(one.variant);
      if (i == 0 || !plan::in_one_portfolio(choices[i - 1].cost, one.cost))
        text += "    {\n      int best = -1;\n      lay_number least = lay_unknown();\n";
      text += "      if (" + one.takes + ")\n        lay_prefer(&best, &least, " + variant + ", " +
              name + "_cost_" + variant + "(a));\n";
      if (i + 1 == choices.size() || !plan::in_one_portfolio(one.cost, choices[i + 1].cost))
        text += "      if (best >= 0) return best;\n    }\n";
    }
    return text;
  }

  // Whether each variant takes the arguments, which one a launch takes, what workspace it needs,
  // and its launches.
  std::string variants_text(const std::string& name, const sema::Kernel& own,
                            const std::vector<BuiltVariant>& variants) {
    const std::string arguments = "const " + name_ + "_args* a";
    std::string text, workspace, launch;
    std::map<std::string, std::vector<Choice>> choices;  // by target
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const BuiltVariant& built = variants[i];
      std::string condition = "1";
      for (const Predicate& when : built.variant->when)
        condition += "\n      && " + c_truth(when, names_) + " == 1";
      for (const auto& [tensor, bytes] : alignments(built, own))
        if (bytes > 1)
          condition +=
              "\n      && lay_aligned(a->" + names_.of(tensor) + ", " + std::to_string(bytes) + ")";
      text += "\n/* " + built.variant->name + " */\nstatic int " + name + "_takes_" + number(i) +
              "(" + arguments + ") {\n  (void)a;\n  return " + condition + ";\n}\n";
      // A function each: compilers take time that grows faster than the length of a function.
      if (built.variant->cost)
        text += "static lay_number " + name + "_cost_" + number(i) + "(" + arguments +
                ") {\n  (void)a;\n  return " + c_number(built.variant->cost->value, names_) +
                ";\n}\n";
      launch += "    case " + number(i) + ":\n";
      std::string needs = c_number(built.variant->workspace, names_);
      for (const std::size_t stage : built.stages) {
        const std::string of = name_ + "_stage_" + number(stage);
        launch += "      status = " + of + "_run(a, " + of +
                  "_choose(a, target, ready), target, workspace, ready, stream, why);\n"
                  "      if (status != LAY_OK) return status;\n";
        needs = "lay_max(" + needs + ",\n          " + of + "_needs(a, " + of +
                "_choose(a, target, ready), target, ready))";
      }
      workspace += "    case " + number(i) + ":\n      return " + needs + ";\n";
      std::map<std::string, std::string> suits;  // by target
      for (const auto& each : built.launches) {
        const std::string function = launch_of(each);
        std::string image = "-1";
        for (const auto& word : built.targets) {
          const std::string index = number(image_of(each, word));
          image = "target == " + number(target(word)) + " ? " + index + " : " + image;
          suits[word] += " && lay_suits(ready, " + index + ")";
        }
        launch += "      status = " + function + "(a, workspace, ready, " + image +
                  ", stream, why);\n      if (status != LAY_OK) return status;\n";
      }
      launch += "      return LAY_OK;\n";
      for (const auto& word : built.targets) {
        std::string takes = name + "_takes_" + number(i) + "(a)" + suits[word];
        for (const std::size_t stage : built.stages)
          takes += " && " + name_ + "_stage_" + number(stage) + "_choose(a, target, ready) >= 0";
        choices[word].push_back({i, takes, built.variant->cost});
      }
    }
    std::string choose;
    for (const auto& word : targets_)
      if (choices.contains(word))
        choose += "  if (target == " + number(target(word)) + ") {\n" +
                  choose_text(name, choices.at(word)) + "  }\n";
    const std::string rest = ", int target, const lay_prepared* ready";
    return text + "\nstatic int " + name + "_choose(" + arguments + rest + ") {\n" +
           "  (void)a;\n  (void)ready;\n" + choose + "  return -1;\n}\n\nstatic lay_number " +
           name + "_needs(" + arguments + ", int variant" + rest +
           ") {\n  (void)a;\n  (void)target;\n  (void)ready;\n  switch (variant) {\n" + workspace +
           "    default:\n      return lay_unknown();\n  }\n}\n\nstatic lay_status " + name +
           "_run(" + arguments +
           ", int variant, int target, unsigned char* workspace,\n    const lay_prepared* ready, "
           "lay_stream stream, lay_message* why) {\n  lay_status status;\n  (void)target;\n"
           "  switch (variant) {\n" +
           launch +
           "    default:\n      return lay_say(why, LAY_NO_VARIANT,\n          \"%s: no variant "
           "for %s takes these sizes and addresses\", " +
           c_string(name_) + ",\n          " + name_ + "_targets[target].name);\n  }\n}\n";
  }

  std::string describe_text() const {
    std::string text = "\nstatic const char* const " + name_ + "_guards[] = {";
    for (const Guard& guard : built_.kernel->guards) text += c_string(guard.to_string()) + ", ";
    text += "NULL};\nstatic const lay_variant_info " + name_ + "_variants[] = {\n";
    for (const BuiltVariant& built : built_.variants) {
      std::string targets, conditions;
      for (const auto& word : built.targets) targets += (targets.empty() ? "" : " ") + word;
      const auto add = [&](const std::string& condition) {
        conditions += (conditions.empty() ? "" : " and ") + condition;
      };
      for (const Predicate& when : built.variant->when) add(when.to_string());
      for (const auto& [tensor, bytes] : alignments(built, *built_.kernel))
        if (bytes > 1) add(tensor + " aligned to " + std::to_string(bytes));
      text += "    {" + c_string(built.variant->name) + ", " + c_string(targets) + ", " +
              c_string(conditions) + ", " +
              c_string(built.variant->cost ? built.variant->cost->value.to_string() : "") + ", " +
              std::to_string(built.variant->cost ? built.variant->cost->portfolio : 0) + ", " +
              c_string(built.variant->workspace.to_string()) + "},\n";
    }
    return text + "};\n\nconst lay_kernel_info* " + name_ +
           "_describe(void) {\n  static const lay_kernel_info info = {\n      " + c_string(name_) +
           ", " + c_string(script_) + ", " + c_string(LAY_VERSION) + ", " +
           number(built_.kernel->guards.size()) + ", " + name_ + "_guards, " +
           number(built_.variants.size()) + ", " + name_ + "_variants};\n  return &info;\n}\n";
  }

  std::string name_;
  const std::string& script_;
  const BuiltKernel& built_;
  ArgumentNames names_;
  std::vector<std::string> targets_;
  bool is_ptx_ = false;
  std::map<std::string, std::size_t> images_;  // by file
  std::string image_arrays_, image_rows_;
  std::map<std::string, std::string> launch_names_;  // by function and text
  std::string launches_;
};

// What the runtime's checks are made with too.
std::string limits_text() {
  return "/* Sizes above this make coordinates at the edge of a tile leave 32 bits. */\n"
         "#define LAY_LARGEST_EXTENT " +
         std::to_string(largest_extent) +
         "\n/* Of the workspace, in bytes. */\n#define LAY_WORKSPACE_ALIGNMENT " +
         std::to_string(plan::workspace_alignment) + "\n\n";
}

}  // namespace

std::string bundle_source(const BundleNames& names, const std::vector<BuiltKernel>& kernels) {
  std::string text = "/* The kernels of " + names.script + ", compiled by Lay " + LAY_VERSION +
                     " (`lay build --bundle`), and what launches\n * them. " + names.stem +
                     ".h says how to call it. */\n#ifndef _POSIX_C_SOURCE\n"
                     "#define _POSIX_C_SOURCE 200809L\n#endif\n\n#include \"" +
                     names.stem +
                     ".h\"\n\n#include <dlfcn.h>\n#include <pthread.h>\n#include <stdarg.h>\n"
                     "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n" +
                     limits_text() + launcher_text();
  for (const auto& built : kernels)
    text += KernelText(names.prefix + built.kernel->name, names.script, built).text();
  return text;
}

}  // namespace lay::runtime
