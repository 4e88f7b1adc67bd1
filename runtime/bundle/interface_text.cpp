#include "runtime/bundle/interface_text.h"

#include <utility>
#include <vector>

namespace lay::runtime {
namespace {

// The text with values in place of its marks, one mark after the other.
std::string filled(std::string text,
                   const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [mark, value] : values)
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at))
      text.replace(at, mark.size(), value);
  return text;
}

// That sizes and addresses are those of the last launch, member by member: what stands between
// members has no value.
std::string same_text(const sema::Kernel& kernel, const ArgumentNames& names) {
  std::string text;
  const auto add = [&](const std::string& member) {
    text += " &&\n      $K_last.args." + member + " == args->" + member;
  };
  for (const auto& dim : kernel.dims) add(names.of(*dim.symbol.dim_id()));
  for (const auto& tensor : kernel.tensors) add(names.of(tensor.name));
  return text;
}

constexpr const char* kFunctions = R"(
lay_status $K_check(const $K_args* args, lay_message* why) {
  lay_tensor tensors[$K_tensor_count];
  int nothing_to_do, target;
  lay_status status = $K_check_arguments(args, tensors, &nothing_to_do, why);
  if (status != LAY_OK) return status;
  for (target = 0; target < $TARGETS && !nothing_to_do; ++target) {
    status = $K_run(args, $K_choose(args, target, NULL), target, NULL, NULL, NULL, why);
    if (status != LAY_OK) return status;
  }
  return lay_done(why);
}

lay_status $K_workspace(const $K_args* args, int64_t* bytes, lay_message* why) {
  lay_tensor tensors[$K_tensor_count];
  lay_number needed = lay_of(0);
  int nothing_to_do, target;
  lay_status status;
  if (!bytes) return lay_say(why, LAY_NULL_POINTER, "$K: no place is given for the bytes");
  *bytes = 0;
  status = $K_check_arguments(args, tensors, &nothing_to_do, why);
  if (status != LAY_OK) return status;
  for (target = 0; target < $TARGETS && !nothing_to_do; ++target) {
    const int variant = $K_choose(args, target, NULL);
    if (variant >= 0) needed = lay_max(needed, $K_needs(args, variant, target, NULL));
  }
  if (!needed.known) return lay_check_workspace("$K", NULL, 0, needed, tensors, 0, why);
  *bytes = needed.value;
  return lay_done(why);
}

lay_status $K_prepare(int device, lay_message* why) {
  return lay_prepare(&$K_state, device, why);
}

/* The sizes and addresses that this thread launched last, and the variant that was chosen and
 * checked for them: both depend on nothing else but the device, as it was prepared. */
static __thread struct {
  $K_args args;
  unsigned long serial;
  int variant;
} $K_last;

/* In the stream's context. Nothing is launched before everything is checked. */
static lay_status $K_launch_here(const $K_args* args, const lay_tensor* tensors, void* workspace,
                                 int64_t workspace_bytes, lay_stream stream, lay_message* why) {
  const lay_prepared* ready = NULL;
  int variant;
  lay_status status = lay_ready(&$K_state, stream, &ready, why);
  if (status != LAY_OK) return status;
  if ($K_last.serial == ready->serial$SAME) {
    variant = $K_last.variant;
  } else {
    variant = $K_choose(args, ready->target, ready);
    status = $K_run(args, variant, ready->target, NULL, NULL, NULL, why);
    if (status != LAY_OK) return status;
    $K_last.args = *args;
    $K_last.serial = ready->serial;
    $K_last.variant = variant;
  }
  status = lay_check_workspace("$K", workspace, workspace_bytes,
                               $K_needs(args, variant, ready->target, ready), tensors, $TENSORS,
                               why);
  if (status != LAY_OK) return status;
  status = $K_run(args, variant, ready->target, (unsigned char*)workspace, ready, stream, why);
  return status == LAY_OK ? lay_done(why) : status;
}

lay_status $K_launch(const $K_args* args, void* workspace, int64_t workspace_bytes,
                     lay_stream stream, lay_message* why) {
  lay_tensor tensors[$K_tensor_count];
  int nothing_to_do, is_pushed;
  lay_status status = $K_check_arguments(args, tensors, &nothing_to_do, why);
  if (status != LAY_OK) return status;
  if (nothing_to_do) return lay_done(why);
  if (!lay_find_driver()) return lay_say(why, LAY_NO_DRIVER, "%s", lay_driver.why);
  status = lay_enter(&$K_state, stream, &is_pushed, why);
  if (status != LAY_OK) return status;
  status = $K_launch_here(args, tensors, workspace, workspace_bytes, stream, why);
  return lay_leave(is_pushed, status);
}

void $K_unload(void) {
  lay_unload(&$K_state);
}
)";

}  // namespace

std::string interface_text(const std::string& name, std::size_t targets, const sema::Kernel& kernel,
                           const ArgumentNames& names) {
  return filled(kFunctions, {{"$SAME", same_text(kernel, names)},
                             {"$TARGETS", std::to_string(targets)},
                             {"$TENSORS", std::to_string(kernel.tensors.size())},
                             {"$K", name}});
}

}  // namespace lay::runtime
