// NVRTC knows the device side of the runtime by itself. These are the names of the host side that
// may be left in declarations.
#pragma once
