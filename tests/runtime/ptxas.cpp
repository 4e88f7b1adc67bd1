// Logs as ptxas of CUDA 13.0 wrote them, and what is read in them.
#include "runtime/compile/ptxas.h"

#include <catch2/catch.hpp>

using lay::runtime::remarks_in;
using lay::runtime::resources_in;
using Remarks = std::vector<std::string>;

namespace {

const std::string spilled = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'spill' for 'sm_90a'
ptxas info    : Function properties for spill
    1512 bytes stack frame, 2000 bytes spill stores, 2284 bytes spill loads
ptxas info    : Used 64 registers, used 0 barriers, 1512 bytes cumulative stack size
ptxas info    : Compile time = 296.541 ms
)";

const std::string local = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'local_memory' for 'sm_90a'
ptxas info    : Function properties for local_memory
    1024 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers, 1024 bytes cumulative stack size
)";

const std::string serialised =
    R"(ptxas info    : (C7519) warpgroup.arrive is injected in around line 55 by compiler to allow use of registers in GMMA in function 'serial'
ptxas info    : (C7519) warpgroup.arrive is injected in around line 63 by compiler to allow use of registers in GMMA in function 'serial'
ptxas info    : (C7517) warpgroup.wait is injected in around line 58 by compiler to allow use of registers defined by GMMA in function 'serial'
ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'serial'
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'serial' for 'sm_90a'
ptxas info    : Function properties for serial
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 30 registers, used 0 barriers
)";

const std::string ignored =
    R"(ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'ignored' for 'sm_90a'
ptxas info    : Function properties for ignored
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
)";

const std::string clean = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'linear_wide' for 'sm_90a'
ptxas info    : Function properties for linear_wide
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers, 16624 bytes smem, 396 bytes cmem[0]
ptxas info    : Compile time = 3.308 ms
)";

}  // namespace

TEST_CASE("what a kernel takes is read from the log") {
  const auto none = resources_in(clean);
  CHECK(none.registers == 128);
  CHECK(none.shared_bytes == 16624);
  CHECK(none.stack_bytes == 0);
  const auto found = resources_in(spilled);
  CHECK(found.registers == 64);
  CHECK(found.stack_bytes == 1512);
  CHECK(found.spill_store_bytes == 2000);
  CHECK(found.spill_load_bytes == 2284);
  CHECK(resources_in("").registers == 0);
}

TEST_CASE("ptxas' remarks are read from the log, each once") {
  CHECK(remarks_in(clean).empty());
  CHECK(remarks_in("").empty());
  CHECK(remarks_in(spilled) ==
        Remarks{"spills registers: 2000 bytes of stores and 2284 of loads a thread"});
  CHECK(remarks_in(local) == Remarks{"has 1024 bytes of local memory a thread"});
  CHECK(remarks_in(serialised) ==
        Remarks{"C7519: warpgroup.arrive is injected in around line 55 by compiler to allow use of "
                "registers in GMMA in "
                "function 'serial' (2 times)",
                "C7517: warpgroup.wait is injected in around line 58 by compiler to allow use of "
                "registers defined by "
                "GMMA in function 'serial'",
                "C7511: Potential Performance Loss: wgmma.mma_async instructions are serialized "
                "due to insufficient "
                "register resources for the wgmma pipeline in the function 'serial'"});
  CHECK(remarks_in(ignored) ==
        Remarks{"C7508: Potential Performance Loss: 'setmaxnreg' ignored; unable to determine "
                "register count at entry."});
  CHECK(remarks_in(ignored + spilled).size() == 2);
  CHECK(remarks_in("ptxas info    : (Cannot) read this\n(C12) no word of ptxas\n").empty());
}
