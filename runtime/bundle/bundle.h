// A bundle: what `lay build --bundle` writes for programs in C and C++. A header and one source
// that check arguments, choose a variant, load its images and launch it; compiled kernels lie in
// the source as data. Nothing else is needed but a C compiler: no CUDA toolkit, no runtime library
// of Lay; the driver is loaded at run time.
//
//   linear.h              per kernel: check, workspace, prepare, launch, describe, unload
//   linear.c              the launcher (launcher/), and the tables and functions of each kernel,
//                         for TVM-FFI too (tvm_ffi_text.h)
//   linear-config.cmake   for find_package(linear)
//   linear.py             the same functions for Python, by ctypes
//   linear.json           the manifest (runtime/build/manifest.h)
//
// Choice and checks are those of runtime/gpu and of plan::chosen_variant: tests/driver compares
// them.
#pragma once

#include <string>
#include <vector>

#include "runtime/build/manifest.h"

namespace lay::runtime {

struct BundleNames {
  std::string script;  // "linear.lay"
  std::string stem;    // of the files: a name in C, "linear"
  std::string prefix;  // before the names of kernels; may be empty
};

struct BundleFile {
  std::string name, text;
};

// "my_layer": a script's name as a name in C.
std::string bundle_stem(const std::string& script);

// The files of the bundle, the same for the same kernels byte for byte. Every launch has an image
// for each target of its variant.
std::vector<BundleFile> bundle(const BundleNames& names, const std::vector<BuiltKernel>& kernels);

// The parts, each from a file of its own.
std::string bundle_header(const BundleNames& names, const std::vector<BuiltKernel>& kernels);
std::string bundle_source(const BundleNames& names, const std::vector<BuiltKernel>& kernels);
std::string bundle_cmake(const BundleNames& names);
std::string bundle_pkg_config(const BundleNames& names);
std::string bundle_python(const BundleNames& names, const std::vector<BuiltKernel>& kernels);

}  // namespace lay::runtime
