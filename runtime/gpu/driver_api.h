// The part of the driver's interface that is used here, as functions of the library that was found.
// For the files that wrap it (driver.cpp, stream.cpp); everybody else uses those.
//
// Source: CUDA Driver API reference (versions of the functions: those of CUDA 12 and 13).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/gpu/driver.h"
#include "runtime/gpu/library.h"

namespace lay::runtime {

// Results are CUresult, handles are opaque.
struct DriverApi {
  Library library;
  // The driver itself: cuInit, cuDriverGetVersion, and names of errors.
  int (*init)(unsigned) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*error_name)(int, const char**) = nullptr;
  int (*error_string)(int, const char**) = nullptr;
  // Devices and what they say of themselves.
  int (*device_count)(int*) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*device_attribute)(int*, int, int) = nullptr;
  int (*device_memory)(std::size_t*, int) = nullptr;
  // The primary context of a device.
  int (*context_retain)(void**, int) = nullptr;
  int (*context_release)(int) = nullptr;
  int (*context_use)(void*) = nullptr;
  int (*context_current)(void**) = nullptr;
  int (*context_synchronize)() = nullptr;
  // Images, the functions in them, and their resources.
  int (*module_load)(void**, const void*) = nullptr;
  int (*module_unload)(void*) = nullptr;
  int (*module_function)(void**, void*, const char*) = nullptr;
  int (*function_set)(void*, int, int) = nullptr;
  int (*function_get)(int*, int, void*) = nullptr;
  int (*occupancy)(int*, void*, int, std::size_t) = nullptr;
  // Device memory.
  int (*allocate)(Address*, std::size_t) = nullptr;
  int (*release)(Address) = nullptr;
  int (*upload)(Address, const void*, std::size_t) = nullptr;
  int (*download)(void*, Address, std::size_t) = nullptr;
  int (*duplicate)(Address, Address, std::size_t, void*) = nullptr;
  int (*fill)(Address, unsigned char, std::size_t) = nullptr;
  // cuLaunchKernel: grid, block, bytes of shared memory, stream, parameters.
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**) = nullptr;
  // Points in a stream, for times.
  int (*event_create)(void**, unsigned) = nullptr;
  int (*event_destroy)(void*) = nullptr;
  int (*event_record)(void*, void*) = nullptr;
  int (*event_wait)(void*) = nullptr;
  int (*event_elapsed)(float*, void*, void*) = nullptr;
  // Present from CUDA 12 on; null before.
  int (*encode_tiled)(TensorMapBits*, int, std::uint32_t, void*, const std::uint64_t*,
                      const std::uint64_t*, const std::uint32_t*, const std::uint32_t*, int, int,
                      int, int) = nullptr;
  int (*encode_im2col)(TensorMapBits*, int, std::uint32_t, void*, const std::uint64_t*,
                       const std::uint64_t*, const int*, const int*, std::uint32_t, std::uint32_t,
                       const std::uint32_t*, int, int, int, int) = nullptr;

  // Work that is recorded once and given to the device many times.
  int (*stream_create)(void**, unsigned) = nullptr;
  int (*stream_destroy)(void*) = nullptr;
  int (*stream_synchronize)(void*) = nullptr;
  int (*capture_begin)(void*, int) = nullptr;
  int (*capture_end)(void*, void**) = nullptr;
  int (*graph_instantiate)(void**, void*, unsigned long long) = nullptr;
  int (*graph_launch)(void*, void*) = nullptr;
  int (*graph_exec_destroy)(void*) = nullptr;
  int (*graph_destroy)(void*) = nullptr;
  int (*event_query)(void*) = nullptr;
  int (*pci_bus_id)(char*, int, int) = nullptr;

  // Present from CUDA 11.8 on; null before.
  int (*active_clusters)(int*, void*, const void*) = nullptr;
  int (*launch_with)(const void*, void*, void**, void**) = nullptr;

  // The nodes of a graph. Present from CUDA 12.3 on; null before.
  int (*graph_nodes)(void*, void**, std::size_t*) = nullptr;
  int (*node_type)(void*, int*) = nullptr;
  int (*kernel_of_node)(void*, void*) = nullptr;
  int (*attribute_of_node)(void*, int, void*) = nullptr;
  int (*function_name)(const char**, void*) = nullptr;
  int (*kernel_name)(const char**, void*) = nullptr;

  std::string why_not;
};

// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)", as far as the driver has words for it.
std::string words_of(const DriverApi& api, int status);

// Returns the driver that was found; `why_not` says why it cannot be used.
const DriverApi& found_driver();

// The driver, or the DriverError that there is none (CUDA_ERROR_NO_DEVICE).
const DriverApi& driver();

// Throws the DriverError of a status that is not success.
void check_call(int status, const char* call);

}  // namespace lay::runtime
