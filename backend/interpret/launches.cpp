#include "backend/interpret/launches.h"

#include <algorithm>
#include <new>
#include <optional>

#include "backend/interpret/placement.h"

namespace lay::interpret {

namespace {

// The memory that the launches share, and what of each buffer in it has been written.
class Workspace {
 public:
  Workspace(std::int64_t most_bytes, Arithmetic arithmetic)
      : most_(most_bytes), scale_(arithmetic == Arithmetic::field ? 8 : 1) {}

  // Room for the buffers of a launch; false where that is too much, or their place has no value.
  bool reserve(const ir::Kernel& kernel, const Binding& sizes) {
    std::int64_t end = 0;
    for (const ir::Buffer& buffer : kernel.buffers) {
      if (!buffer.workspace) continue;
      const auto offset = buffer.offset.evaluate(sizes);
      const auto placement = place(buffer.layout, sizes);
      if (!offset || *offset < 0 || !placement || placement->cosize > most_) return false;
      const std::int64_t bytes = (placement->cosize * bits(buffer.element) + 7) / 8;
      if (bytes > most_ / scale_ || *offset > most_ / scale_ - bytes) return false;
      end = std::max(end, (*offset + bytes) * scale_);
      // Launches of several products may have a tensor of one name each.
      auto& written = written_[buffer.name];
      written.resize(std::max(written.size(), static_cast<std::size_t>(placement->cosize)));
      places_[buffer.name] = {*offset * scale_, bytes * scale_};
    }
    end_ = std::max(end_, end);
    return true;
  }

  void provide() { memory_.assign(static_cast<std::size_t>(end_), std::byte{0xff}); }

  Memory of(const ir::Buffer& buffer) {
    const auto& [offset, bytes] = places_.at(buffer.name);
    // An empty one has an address too.
    std::byte* data = memory_.empty() ? &nothing_ : memory_.data() + offset;
    return {data, bytes, false, written_.at(buffer.name).data()};
  }

 private:
  // Bytes of the host for one of the device: in field mode an element of one byte has 8.
  std::int64_t most_, scale_, end_ = 0;
  std::byte nothing_{};
  std::vector<std::byte> memory_;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> places_;
  std::map<std::string, std::vector<std::uint8_t>> written_;
};

Report fault(FaultCode code, std::string message) {
  Report report;
  report.fault.emplace();
  report.fault->code = code;
  report.fault->message = std::move(message);
  return report;
}

}  // namespace

Report run_all(const std::vector<ir::Kernel>& launches, const NamedArguments& arguments,
               const Options& options) {
  Workspace workspace(options.max_memory, options.arithmetic);
  for (const ir::Kernel& kernel : launches) {
    Binding sizes;
    for (const ir::Param& param : kernel.params) {
      const auto found = arguments.find(param.name);
      if (found == arguments.end())
        return fault(FaultCode::argument, "`" + param.name + "` has no value");
      const auto* value = std::get_if<std::int64_t>(&found->second);
      if (param.is_size && value) sizes[*param.symbol.dim_id()] = *value;
    }
    if (!workspace.reserve(kernel, sizes)) {
      return fault(FaultCode::limit, "the workspace of `" + kernel.name + "` takes more than " +
                                         std::to_string(options.max_memory) + " bytes");
    }
  }
  try {
    workspace.provide();
  } catch (const std::bad_alloc&) {
    return fault(FaultCode::limit, "the host has no memory for the workspace");
  }
  Report all;
  for (const ir::Kernel& kernel : launches) {
    std::vector<Argument> given;
    for (const ir::Param& param : kernel.params) given.push_back(arguments.at(param.name));
    for (const ir::Buffer& buffer : kernel.buffers) {
      if (buffer.space != ir::Space::global) continue;
      if (buffer.workspace) {
        given.emplace_back(workspace.of(buffer));
        continue;
      }
      const auto found = arguments.find(buffer.name);
      if (found == arguments.end())
        return fault(FaultCode::argument, "`" + buffer.name + "` was not given");
      given.push_back(found->second);
    }
    const Report one = run(kernel, given, options);
    all.fault = one.fault;
    all.blocks += one.blocks;
    all.steps += one.steps;
    all.lane_operations += one.lane_operations;
    all.banks.insert(all.banks.end(), one.banks.begin(), one.banks.end());
    all.sectors.insert(all.sectors.end(), one.sectors.begin(), one.sectors.end());
    if (all.fault) break;
  }
  return all;
}

}  // namespace lay::interpret
