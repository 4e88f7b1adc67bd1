#include "runtime/gpu/driver_api.h"

namespace lay::runtime {
namespace {

bool bind(DriverApi& api) {
  const Library& from = api.library;
  from.get(api.encode_tiled, "cuTensorMapEncodeTiled");
  from.get(api.encode_im2col, "cuTensorMapEncodeIm2col");
  from.get(api.active_clusters, "cuOccupancyMaxActiveClusters");
  from.get(api.launch_with, "cuLaunchKernelEx");
  from.get(api.graph_nodes, "cuGraphGetNodes");
  from.get(api.node_type, "cuGraphNodeGetType");
  from.get(api.kernel_of_node, "cuGraphKernelNodeGetParams_v2");
  from.get(api.attribute_of_node, "cuGraphKernelNodeGetAttribute");
  from.get(api.function_name, "cuFuncGetName");
  from.get(api.kernel_name, "cuKernelGetName");
  return from.get(api.init, "cuInit") && from.get(api.driver_version, "cuDriverGetVersion") &&
         from.get(api.error_name, "cuGetErrorName") &&
         from.get(api.error_string, "cuGetErrorString") &&
         from.get(api.device_count, "cuDeviceGetCount") &&
         from.get(api.device_get, "cuDeviceGet") && from.get(api.device_name, "cuDeviceGetName") &&
         from.get(api.device_attribute, "cuDeviceGetAttribute") &&
         from.get(api.device_memory, "cuDeviceTotalMem_v2") &&
         from.get(api.context_retain, "cuDevicePrimaryCtxRetain") &&
         from.get(api.context_release, "cuDevicePrimaryCtxRelease_v2") &&
         from.get(api.context_use, "cuCtxSetCurrent") &&
         from.get(api.context_current, "cuCtxGetCurrent") &&
         from.get(api.context_synchronize, "cuCtxSynchronize") &&
         from.get(api.module_load, "cuModuleLoadData") &&
         from.get(api.module_unload, "cuModuleUnload") &&
         from.get(api.module_function, "cuModuleGetFunction") &&
         from.get(api.function_set, "cuFuncSetAttribute") &&
         from.get(api.function_get, "cuFuncGetAttribute") &&
         from.get(api.occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor") &&
         from.get(api.allocate, "cuMemAlloc_v2") && from.get(api.release, "cuMemFree_v2") &&
         from.get(api.upload, "cuMemcpyHtoD_v2") && from.get(api.download, "cuMemcpyDtoH_v2") &&
         from.get(api.duplicate, "cuMemcpyDtoDAsync_v2") && from.get(api.fill, "cuMemsetD8_v2") &&
         from.get(api.launch, "cuLaunchKernel") && from.get(api.event_create, "cuEventCreate") &&
         from.get(api.event_destroy, "cuEventDestroy_v2") &&
         from.get(api.event_record, "cuEventRecord") &&
         from.get(api.event_wait, "cuEventSynchronize") &&
         from.get(api.event_elapsed, "cuEventElapsedTime") &&
         from.get(api.event_query, "cuEventQuery") &&
         from.get(api.stream_create, "cuStreamCreate") &&
         from.get(api.stream_destroy, "cuStreamDestroy_v2") &&
         from.get(api.stream_synchronize, "cuStreamSynchronize") &&
         from.get(api.capture_begin, "cuStreamBeginCapture_v2") &&
         from.get(api.capture_end, "cuStreamEndCapture") &&
         from.get(api.graph_instantiate, "cuGraphInstantiateWithFlags") &&
         from.get(api.graph_launch, "cuGraphLaunch") &&
         from.get(api.graph_exec_destroy, "cuGraphExecDestroy") &&
         from.get(api.graph_destroy, "cuGraphDestroy") &&
         from.get(api.pci_bus_id, "cuDeviceGetPCIBusId");
}

DriverApi load() {
  DriverApi api;
  api.library = Library::find({"libcuda.so.1"});
  if (!api.library) {
    api.why_not = "no NVIDIA driver: " + api.library.why();
  } else if (!bind(api)) {
    api.why_not =
        "the NVIDIA driver is older than this program knows (it lacks a function of CUDA 12)";
  } else if (const int status = api.init(0); status != 0) {
    api.why_not = "the NVIDIA driver does not start: cuInit: " + words_of(api, status);
  }
  return api;
}

}  // namespace

std::string words_of(const DriverApi& api, int status) {
  const char *name = nullptr, *text = nullptr;
  if (api.error_name) api.error_name(status, &name);
  if (api.error_string) api.error_string(status, &text);
  return std::string(name ? name : "error " + std::to_string(status)) +
         (text ? " (" + std::string(text) + ")" : "");
}

const DriverApi& found_driver() {
  static const DriverApi api = load();
  return api;
}

void check_call(int status, const char* call) {
  if (status != 0) throw DriverError(status, call);
}

const DriverApi& driver() {
  if (!found_driver().why_not.empty()) throw DriverError(100, "cuInit");
  return found_driver();
}

}  // namespace lay::runtime
