// An NVRTC that compiles anything into an image that the fake driver takes, so that machines
// without CUDA test what comes after compiling.
#include <cstddef>
#include <cstring>

namespace {
constexpr char image[] =
    "\x7f"
    "ELF of nothing";
constexpr char log_text[] = "ptxas info    : Used 40 registers";
}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  return *major = 13, *minor = 0;
}
int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*,
                       const char* const*) {
  return *program = new char, 0;
}
int nvrtcDestroyProgram(void** program) {
  return delete static_cast<char*>(*program), 0;
}
int nvrtcCompileProgram(void*, int, const char* const*) {
  return 0;
}
int nvrtcGetProgramLogSize(void*, std::size_t* size) {
  return *size = sizeof log_text, 0;
}
int nvrtcGetProgramLog(void*, char* text) {
  return std::memcpy(text, log_text, sizeof log_text), 0;
}
int nvrtcGetCUBINSize(void*, std::size_t* size) {
  return *size = sizeof image, 0;
}
int nvrtcGetCUBIN(void*, char* bytes) {
  return std::memcpy(bytes, image, sizeof image), 0;
}
int nvrtcGetPTXSize(void*, std::size_t* size) {
  return *size = sizeof image, 0;
}
int nvrtcGetPTX(void*, char* bytes) {
  return std::memcpy(bytes, image, sizeof image), 0;
}

}  // extern "C"
