# The programs in Python that `lay bench` runs, embedded in runtime/bench:
# python_file("triton/candidate.py").
set(python_rows "")
foreach(file triton/candidate.py torch/candidate.py)
  append_embedded(python_rows ${file} runtime/bench/${file})
endforeach()
embed_files(runtime/bench python_files.h "${python_rows}" [[
std::string_view python_file(std::string_view name) {
  for (const auto& [file, text] : kFiles) {
    if (file == name) return text;
  }
  return {};
}
]])
