# The programs in Python that `lay bench` runs, embedded in runtime/bench:
# triton_file("candidate.py").
set(triton_rows "")
append_embedded(triton_rows candidate.py runtime/bench/triton/candidate.py)
embed_files(runtime/bench triton/triton_files.h "${triton_rows}" [[
std::string_view triton_file(std::string_view name) {
  for (const auto& [file, text] : kFiles) {
    if (file == name) return text;
  }
  return {};
}
]])
