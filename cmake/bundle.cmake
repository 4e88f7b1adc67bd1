# The part of a launcher that all bundles of `lay build --bundle` share, embedded in the command.
set(bundle_rows "")
append_embedded(bundle_rows launcher.c runtime/bundle/launcher.c)
embed_files(runtime bundle/launcher_file.h "${bundle_rows}" [[
std::string_view launcher_file() {
  return kFiles[0].second;
}
]])
