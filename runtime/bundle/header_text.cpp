#include <algorithm>

#include "runtime/bundle/bundle.h"
#include "runtime/bundle/c_text.h"

namespace lay::runtime {
namespace {

// What all bundles of one ABI declare; whoever changes it, or what a function means, counts up.
constexpr const char* kShared = R"(/* What the headers of all bundles have in common. */
#ifndef LAY_BUNDLE_ABI
#define LAY_BUNDLE_ABI 2

/* CUstream, which is cudaStream_t; null is the default stream. */
typedef struct CUstream_st* lay_stream;

typedef enum lay_status {
  LAY_OK = 0,
  /* What the caller gave; a launch that returns one of these has launched nothing. */
  LAY_WRONG_STRUCT = 1,         /* null, or `size` is not the struct's: other headers were used */
  LAY_NEGATIVE_SIZE = 2,
  LAY_EXTENT_TOO_LARGE = 3,     /* beyond what the kernel computes with */
  LAY_GUARD_FAILED = 4,         /* what the kernel assumes of its sizes does not hold */
  LAY_NULL_POINTER = 5,
  LAY_MISALIGNED = 6,
  LAY_OVERLAP = 7,              /* an output lies over another argument */
  LAY_GRID_TOO_LARGE = 8,
  LAY_NO_VARIANT = 9,           /* no variant for the device takes the sizes and addresses */
  LAY_WORKSPACE_TOO_SMALL = 10,
  /* What the machine lacks. */
  LAY_NO_DRIVER = 20,           /* none, or older than CUDA 12.0 */
  LAY_NO_DEVICE = 21,           /* no such device, or no context is current */
  LAY_UNSUPPORTED_DEVICE = 22,  /* no image in the bundle runs on it */
  LAY_OUT_OF_MEMORY = 23,       /* on the host */
  /* When it was called. */
  LAY_NOT_PREPARED = 30,        /* first used while its stream was being captured */
  LAY_DRIVER_FAILED = 40        /* a call of the driver failed */
} lay_status;

/* One sentence, with the values: "the guard `N % 8 == 0` does not hold: N = 4097"; empty after a
 * success. */
typedef struct lay_message {
  char text[512];
} lay_message;

/* A way to execute a kernel, right where its conditions hold. */
typedef struct lay_variant_info {
  const char* name;
  const char* targets;         /* "sm_80 sm_90a" */
  const char* conditions;      /* "M % 128 == 0 and X aligned to 16" */
  const char* cost;            /* an expression in the sizes; "": it stands in no portfolio */
  int portfolio;               /* its number */
  const char* workspace_bytes; /* an expression in the sizes */
} lay_variant_info;

/* Guards hold for every launch; of the variants a launch takes the first for its device that takes
 * the sizes and addresses, of a portfolio, among those for the device, the one of least cost, the
 * first of equal ones. */
typedef struct lay_kernel_info {
  const char* name;
  const char* script;
  const char* lay_version;
  size_t guard_count;
  const char* const* guards;
  size_t variant_count;
  const lay_variant_info* variants;
} lay_kernel_info;

#elif LAY_BUNDLE_ABI != 2
#error "bundles of two ABIs in one source: build them with one version of Lay"
#endif
)";

std::string comment(std::string text) {
  for (auto at = text.find("*/"); at != std::string::npos; at = text.find("*/")) {
    text.insert(at + 1, " ");
  }
  return " /* " + text + " */";
}

std::string struct_text(const std::string& name, const sema::Kernel& kernel) {
  const ArgumentNames names(kernel);
  std::string text =
      "typedef struct " + name + "_args {\n  uint32_t size; /* sizeof(" + name + "_args) */\n";
  for (const auto& dim : kernel.dims) text += "  int64_t " + names.of(*dim.symbol.dim_id()) + ";\n";
  for (const auto& scalar : kernel.scalars)
    text += "  " + c_scalar_type(scalar.type) + " " + names.of(scalar.name) + ";" +
            comment(std::string(element_name(scalar.type))) + "\n";
  for (const auto& tensor : kernel.tensors) {
    const bool is_input = tensor.access == sema::Access::input;
    text += std::string("  ") + (is_input ? "const " : "") + "void* " + names.of(tensor.name) +
            ";" +
            comment(std::string(is_input                                ? ""
                                : tensor.access == sema::Access::output ? "out "
                                                                        : "in and out ") +
                    std::string(element_name(tensor.element)) + " " + to_string(tensor.memory())) +
            "\n";
  }
  return text + "} " + name + "_args;\n";
}

std::string kernel_text(const BundleNames& names, const BuiltKernel& built) {
  const std::string name = names.prefix + built.kernel->name, args = name + "_args";
  std::string text = "/* ---- " + name + " ---- */\n\n" + struct_text(name, *built.kernel) + "\n";
  text += "/* The symbols carry the ABI: objects of another one do not link. */\n";
  for (const char* function : {"check", "workspace", "prepare", "launch", "describe", "unload"})
    text += "#define " + name + "_" + function + " " + name + "_" + function + "_lay2\n";
  const auto declare = [&](const std::string& comment, const std::string& declaration) {
    text += "\n/* " + comment + " */\n" + declaration + ";\n";
  };
  declare("Sizes, guards and addresses, for every target of the bundle; needs no GPU.",
          "lay_status " + name + "_check(const " + args + "* args, lay_message* why)");
  declare(
      "Bytes of workspace that a launch with these arguments needs on any target; 0: none. "
      "Needs no\n * GPU.",
      "lay_status " + name + "_workspace(const " + args +
          "* args, int64_t* bytes, lay_message* why)");
  declare(
      "Loads the images for a device. A launch does so itself, except into a stream that is "
      "being\n * captured.",
      "lay_status " + name + "_prepare(int device, lay_message* why)");
  declare(
      "Launches on the stream's device, for the null stream that of the current context, in order "
      "with\n * the stream's other work, and returns before it is done. The workspace, aligned to "
      "128 bytes, may\n * have any contents and is in use until then.",
      "lay_status " + name + "_launch(const " + args +
          "* args, void* workspace, int64_t workspace_bytes,\n    lay_stream stream, "
          "lay_message* why)");
  declare("Guards and variants, as text.", "const lay_kernel_info* " + name + "_describe(void)");
  declare("Frees what was loaded; nothing of the kernel may be running or be called meanwhile.",
          "void " + name + "_unload(void)");
  return text;
}

}  // namespace

std::string bundle_header(const BundleNames& names, const std::vector<BuiltKernel>& kernels) {
  std::string guard = "LAY_BUNDLE_OF_" + names.prefix + names.stem;
  std::transform(guard.begin(), guard.end(), guard.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = "/* The kernels of " + names.script + ", compiled by Lay " + LAY_VERSION +
                     R"( (`lay build --bundle`).
 *
 * Every function is safe to call from several threads, returns a status, and where `why` is not
 * null says there what is wrong. Addresses are of the device's memory. Compile )" +
                     names.stem + R"(.c as C and
 * link it with -pthread (and -ldl before glibc 2.34). */
)";
  text += "#ifndef " + guard + "\n#define " + guard + "\n\n#include <stddef.h>\n" +
          "#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n" + kShared;
  for (const auto& built : kernels) text += "\n" + kernel_text(names, built);
  return text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

}  // namespace lay::runtime
