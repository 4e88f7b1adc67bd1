# The parts of a launcher that all bundles of `lay build --bundle` share, embedded in the command.
set(bundle_rows "")
foreach(part numbers arguments driver launches tvm_ffi)
  append_embedded(bundle_rows ${part}.c runtime/bundle/launcher/${part}.c)
endforeach()
embed_files(runtime bundle/launcher_files.h "${bundle_rows}" [[
std::string launcher_text() {
  std::string text;
  for (const auto& [name, part] : kFiles) text.append(text.empty() ? "" : "\n").append(part);
  return text;
}
]])
