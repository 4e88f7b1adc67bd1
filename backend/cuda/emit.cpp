#include "backend/cuda/emit.h"

#include <algorithm>

#include "backend/cuda/descriptor.h"
#include "backend/cuda/emitter.h"
#include "backend/ir/walk.h"
#include "frontend/algebra/support/overloaded.h"

namespace lay::cuda {
namespace {

std::string layout_text(const ir::Buffer& buffer) {
  std::string text = comment_text(to_string(buffer.layout));
  if (!buffer.origin.note.empty()) text += ", " + comment_text(buffer.origin.note);
  return text;
}

std::string int_text(const Int& value) {
  return comment_text(value.to_string());
}

}  // namespace

Emitter::Emitter(const ir::Kernel& kernel, const Target& target)
    : kernel_(kernel),
      target_(target),
      out_(kernel.script),
      expressions_(kernel.exprs.size()),
      held_(accumulators_of_wgmma()),
      shared_offsets_(kernel.buffers.size(), 0),
      overlaps_(ir::overlaps(kernel) && target.capability >= 90) {
  sizes_.helpers = &helpers_;
}

void Emitter::unsupported(const std::string& what) const {
  throw Problem{"unsupported", what + " cannot be emitted yet", current_line_};
}

std::string_view Emitter::type_name(ElementType type) const {
  const auto found = c_type(type);
  if (!found) unsupported("the type " + std::string(element_name(type)));
  return *found;
}

std::string_view Emitter::memory_name(const ir::Buffer& buffer) const {
  const auto found = memory_type(buffer.element);
  if (!found) unsupported("the type " + std::string(element_name(buffer.element)));
  return *found;
}

void Emitter::name_everything() {
  for (const ir::Buffer& buffer : kernel_.buffers) buffer_names_.push_back(names_.add(buffer.name));
  for (const ir::Param& param : kernel_.params) {
    param_names_.push_back(names_.add(param.name));
    if (const auto dim = param.symbol.dim_id(); param.is_size && dim)
      sizes_.dims[*dim] = param_names_.back();
  }
  for (const ir::TensorMap& map : kernel_.tensor_maps) map_names_.push_back(names_.add(map.name));
  for (const ir::Barrier& barrier : kernel_.barriers)
    barrier_names_.push_back(names_.add(barrier.name));
  for (const ir::Ring& ring : kernel_.rings) ring_names_.push_back(names_.add(ring.name));
  var_names_.resize(kernel_.vars.size());
}

void Emitter::find_uses(std::vector<ir::ExprId> open) {
  std::set<int> seen;
  while (!open.empty()) {
    const ir::ExprId id = open.back();
    open.pop_back();
    if (!seen.insert(id.index).second) continue;
    const ir::Expr& expr = kernel_.expr(id);
    if (const auto* special = std::get_if<ir::Special>(&expr.node))
      specials_.insert(special->which);
    for (ir::ExprId operand : ir::operands(expr)) open.push_back(operand);
  }
}

void Emitter::find_uses(const ir::Block& block) {
  std::vector<ir::ExprId> uses;
  ir::for_each_statement(block, [&](const ir::Stmt& statement) {
    for (const ir::ExprId id : ir::uses(statement).exprs) uses.push_back(id);
  });
  find_uses(std::move(uses));
}

void Emitter::place_shared() {
  for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const ir::Buffer& buffer = kernel_.buffers[i];
    if (buffer.space != ir::Space::shared) continue;
    const auto extent = extent_in_elements(buffer.layout);
    if (!extent) unsupported("a shared buffer of unknown size");
    const std::int64_t align = std::max(buffer.alignment, 16);
    shared_offsets_[i] = (shared_bytes_ + align - 1) / align * align;
    shared_bytes_ = shared_offsets_[i] + (*extent * bits(buffer.element) + 7) / 8;
  }
  dynamic_shared_ = shared_bytes_ > static_shared_limit;
  if (shared_bytes_ > target_.block_shared)
    throw Problem{"shared-memory",
                  "the kernel needs " + std::to_string(shared_bytes_) +
                      " bytes of shared memory, and a block of " + target_.architecture + " has " +
                      std::to_string(target_.block_shared),
                  0};
  if (kernel_.launch.threads > target_.block_threads)
    throw Problem{"threads",
                  "the kernel needs " + std::to_string(kernel_.launch.threads) +
                      " threads a block, and " + target_.architecture + " has " +
                      std::to_string(target_.block_threads),
                  0};
}

void Emitter::write_heading() {
  const ir::Launch& launch = kernel_.launch;
  out_.line("// " + comment_text(kernel_.name) +
            (kernel_.script.empty() ? ""
                                    : ", from " + comment_text(kernel_.script.substr(
                                                      kernel_.script.find_last_of('/') + 1))) +
            ", for " + target_.architecture + ".");
  if (!kernel_.header.empty()) out_.line("//");
  for (const std::string& line : kernel_.header) out_.line("//   " + comment_text(line));
  out_.line("//");
  out_.line("// Grid (" + int_text(launch.grid[0]) + ", " + int_text(launch.grid[1]) + ", " +
            int_text(launch.grid[2]) + "), " + std::to_string(launch.threads) +
            " threads a block, " + std::to_string(shared_bytes_) + " bytes of shared memory" +
            (dynamic_shared_ ? ", asked for at the launch." : "."));
  for (const Predicate& assumed : kernel_.assumptions)
    out_.line("// Assumes " + comment_text(assumed.to_string()) + ".");
  out_.line("");
}

void Emitter::write_signature() {
  std::vector<std::pair<std::string, std::string>> parameters;  // text, comment
  // The compiler may read what it believes to be constant before any fence, and what it believes
  // that no other thread writes before any barrier.
  bool counts = false;
  ir::for_each_statement(kernel_, [&](const ir::Stmt& statement) {
    counts = counts || std::holds_alternative<ir::AtomicCount>(statement.node);
  });
  const std::string pointer = overlaps_ || counts ? "* " : "* __restrict__ ";
  for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const ir::Buffer& buffer = kernel_.buffers[i];
    if (buffer.space != ir::Space::global) continue;
    parameters.emplace_back(std::string(buffer.written ? "" : "const ") +
                                std::string(memory_name(buffer)) + pointer + buffer_names_[i],
                            layout_text(buffer));
  }
  for (std::size_t i = 0; i < kernel_.params.size(); ++i) {
    const ir::Param& param = kernel_.params[i];
    parameters.emplace_back(std::string(type_name(param.is_size ? ElementType::s32 : param.type)) +
                                " " + param_names_[i],
                            "");
  }
  for (std::size_t i = 0; i < kernel_.tensor_maps.size(); ++i) {
    const ir::TensorMap& map = kernel_.tensor_maps[i];
    std::string box;
    for (const int extent : map.box) box += (box.empty() ? "" : ",") + std::to_string(extent);
    parameters.emplace_back(
        "const __grid_constant__ tensor_map " + map_names_[i],
        std::string(map.im2col.empty() ? "boxes" : "columns of pixels, im2col: boxes") + " of (" +
            box + ") of " + comment_text(buffer(map.tensor).name) +
            (map.swizzle ? ", bytes swizzled by " + map.swizzle->to_string() : ""));
  }
  const auto& cluster = kernel_.launch.cluster;
  std::string bounds;
  if (cluster != std::array<int, 3>{1, 1, 1}) {
    bounds = "__cluster_dims__(" + std::to_string(cluster[0]) + ", " + std::to_string(cluster[1]) +
             ", " + std::to_string(cluster[2]) + ") ";
  }
  bounds += "__launch_bounds__(" + std::to_string(kernel_.launch.threads) + ", " +
            std::to_string(kernel_.launch.blocks_per_sm) + ")";
  out_.line("extern \"C\" __global__ void " + bounds);
  out_.open(function_name(kernel_.name) + "(" + (parameters.empty() ? ") {" : ""));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& [text, comment] = parameters[i];
    const bool last = i + 1 == parameters.size();
    out_.line("  " + text + (last ? ") {" : ",") + (comment.empty() ? "" : "  // " + comment));
  }
}

bool Emitter::multiplies_by_warpgroups() const {
  return kernel_.roles.size() > 1 && !held_.empty();
}

void Emitter::write_specials() {
  const auto uses = [&](ir::Builtin which) { return specials_.contains(which); };
  const bool several = kernel_.roles.size() > 1;  // their threads are told apart
  const bool derived =
      several || uses(ir::Builtin::lane) || uses(ir::Builtin::warp) || uses(ir::Builtin::warpgroup);
  if (uses(ir::Builtin::thread) || derived) out_.line("const int thread = (int)threadIdx.x;");
  if (uses(ir::Builtin::lane)) out_.line("const int lane = thread % 32;");
  // With several roles the compiler has to know that the lanes of a warp agree.
  const auto of_warp = [&](const std::string& value) {
    if (multiplies_by_warpgroups()) return "same_in_warp(" + value + ")";
    return several ? "__shfl_sync(0xffffffff, " + value + ", 0)" : value;
  };
  if (uses(ir::Builtin::warp)) out_.line("const int warp = " + of_warp("thread / 32") + ";");
  if (uses(ir::Builtin::warpgroup))
    out_.line("const int warpgroup = " + of_warp("thread / 128") + ";");
  if (uses(ir::Builtin::cluster_rank)) {
    out_.line("int cluster_rank;");
    out_.line("asm(\"mov.u32 %0, %%cluster_ctarank;\" : \"=r\"(cluster_rank));");
  }
  if (uses(ir::Builtin::grid_x)) out_.line("const int grid_x = (int)gridDim.x;");
  if (uses(ir::Builtin::block_x)) out_.line("const int block_x = (int)blockIdx.x;");
  if (uses(ir::Builtin::block_y)) out_.line("const int block_y = (int)blockIdx.y;");
  if (uses(ir::Builtin::block_z)) out_.line("const int block_z = (int)blockIdx.z;");
}

void Emitter::write_buffers() {
  if (dynamic_shared_) out_.line("extern __shared__ __align__(1024) unsigned char shared[];");
  for (const ir::Space space : {ir::Space::shared, ir::Space::registers})
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i)
      if (kernel_.buffers[i].space == space) write_buffer(i);
  for (const auto& [index, start] : starts_) {
    const auto at = static_cast<std::size_t>(index);
    const ir::Buffer& of = kernel_.buffers[at];
    out_.line("const unsigned " + start + " = kept(matrix_start(" + buffer_names_[at] + ", " +
              std::to_string(descriptor_of(of.layout, bits(of.element))->leading) + "));");
  }
}

void Emitter::write_buffer(std::size_t index) {
  const ir::Buffer& buffer = kernel_.buffers[index];
  const auto extent = extent_in_elements(buffer.layout);
  if (!extent) unsupported("a buffer of unknown size");
  const std::string type(memory_name(buffer)), comment = ";  // " + layout_text(buffer);
  const std::int64_t places = is_half_byte(buffer.element) ? (*extent + 1) / 2 : *extent;
  const std::string& name = buffer_names_[index];
  const std::string array = type + " " + name + "[" + std::to_string(places) + "]" + comment;
  if (buffer.space == ir::Space::registers)
    return out_.line((vectors_.contains(static_cast<int>(index)) ? "__align__(16) " : "") + array);
  if (!dynamic_shared_)
    return out_.line("__shared__ __align__(" + std::to_string(std::max(buffer.alignment, 16)) +
                     ") " + array);
  out_.line(type + "* const " + name + " = (" + type + "*)(shared + " +
            std::to_string(shared_offsets_[index]) + ")" + comment);
}

// The first copy finds its map in the cache.
void Emitter::fetch_tensor_maps() {
  if (kernel_.tensor_maps.empty()) return;
  need("tensor_map");
  specials_.insert(ir::Builtin::thread);
  out_.open("if (thread == 0) {");
  for (const std::string& name : map_names_)
    out_.line("asm volatile(\"prefetch.tensormap [%0];\" :: \"l\"(&" + name + ") : \"memory\");");
  out_.close();
}

void Emitter::check_capability() const {
  const Helper* most = most_demanding(helpers_);
  if (!most || most->capability <= target_.capability) return;
  std::string architectures;
  for (const Target& other : targets()) {
    const bool named = architectures.find(other.architecture) != std::string::npos;
    if (other.capability >= most->capability && !named)
      architectures += (architectures.empty() ? "" : ", ") + other.architecture;
  }
  throw Problem{"unsupported",
                "`" + std::string(most->name) + "` needs compute capability " +
                    capability_text(most->capability) + ", and " + target_.architecture + " has " +
                    capability_text(target_.capability),
                0, architectures.empty() ? "" : "architectures that have it: " + architectures};
}

Emitted Emitter::run() {
  name_everything();
  find_uses(kernel_.prologue);
  for (const ir::Role& role : kernel_.roles) find_uses(role.body);
  find_uses(kernel_.epilogue);
  place_shared();

  // The body first: it decides which helpers the text needs and which registers are moved as
  // vectors.
  Writer body(kernel_.script);
  std::swap(out_, body);
  out_.open("");
  fetch_tensor_maps();
  statements(kernel_.prologue);
  roles();
  statements(kernel_.epilogue);
  out_.close();
  std::swap(out_, body);

  check_capability();
  write_heading();
  out_.raw(helper_definitions(helpers_));
  write_signature();
  write_specials();
  write_buffers();
  write_barriers();
  out_.append(body);
  return {std::move(out_.text), function_name(kernel_.name),         std::move(out_.lines),
          shared_bytes_,        dynamic_shared_ ? shared_bytes_ : 0, overlaps_};
}

EmitResult emit(const ir::Kernel& kernel, const Target& target) {
  try {
    return Emitter(kernel, target).run();
  } catch (const Problem& problem) {
    return problem;
  }
}

}  // namespace lay::cuda
