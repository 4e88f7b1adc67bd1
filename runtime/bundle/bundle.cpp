#include "runtime/bundle/bundle.h"

#include <cctype>
#include <filesystem>

namespace lay::runtime {

std::string bundle_stem(const std::string& script) {
  std::string stem = std::filesystem::path(script).stem().string();
  for (char& c : stem)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  if (stem.empty() || std::isdigit(static_cast<unsigned char>(stem.front()))) stem = "_" + stem;
  return stem;
}

std::vector<BundleFile> bundle(const BundleNames& names, const std::vector<BuiltKernel>& kernels) {
  return {{names.stem + ".h", bundle_header(names, kernels)},
          {names.stem + ".c", bundle_source(names, kernels)},
          {names.stem + "-config.cmake", bundle_cmake(names)},
          {names.stem + ".pc", bundle_pkg_config(names)},
          {names.stem + ".py", bundle_python(names, kernels)},
          {names.stem + ".json", manifest(names.script, kernels)}};
}

std::string bundle_cmake(const BundleNames& names) {
  const std::string& stem = names.stem;
  return "# find_package(" + stem + " CONFIG) makes the target lay::" + stem + " of " + stem +
         ".c.\n"
         "include_guard(GLOBAL)\n"
         "enable_language(C)\n"
         "set(THREADS_PREFER_PTHREAD_FLAG ON)\n"
         "find_package(Threads REQUIRED)\n"
         "add_library(lay_bundle_" +
         stem +
         " STATIC\n"
         "  ${CMAKE_CURRENT_LIST_DIR}/" +
         stem +
         ".c)\n"
         "set_target_properties(lay_bundle_" +
         stem +
         " PROPERTIES POSITION_INDEPENDENT_CODE ON)\n"
         "target_include_directories(lay_bundle_" +
         stem +
         " PUBLIC ${CMAKE_CURRENT_LIST_DIR})\n"
         "target_link_libraries(lay_bundle_" +
         stem +
         " PUBLIC Threads::Threads ${CMAKE_DL_LIBS})\n"
         "add_library(lay::" +
         stem + " ALIAS lay_bundle_" + stem + ")\n";
}

std::string bundle_pkg_config(const BundleNames& names) {
  const std::string& stem = names.stem;
  const std::string library = "lib" + stem;
  return "# For " + library + ".a or " + library + ".so, made of " + stem +
         ".c in the folder of this file.\n"
         "Name: " +
         stem +
         "\n"
         "Description: GPU kernels, built by Lay\n"
         "Version: " LAY_VERSION
         "\n"
         "Cflags: -I${pcfiledir}\n"
         "Libs: -L${pcfiledir} -l" +
         stem + " -pthread -ldl\n";
}

}  // namespace lay::runtime
