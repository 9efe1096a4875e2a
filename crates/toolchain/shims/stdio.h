// printf is built in; everything else of stdio is the host's.
#ifndef LIGHTSPEED_SHIM_STDIO_H
#define LIGHTSPEED_SHIM_STDIO_H

#include <stddef.h>

namespace std {
using ::printf;
}

#endif
