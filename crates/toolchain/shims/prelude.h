// Included before every source: what nvcc drags in through its own runtime header.
#ifndef LIGHTSPEED_SHIM_PRELUDE_H
#define LIGHTSPEED_SHIM_PRELUDE_H

#include <lightspeed/math.h>
#include <stdint.h>
#include <stddef.h>
#include <stdio.h>
#include <assert.h>
#include <limits>
#include <utility>

#include <lightspeed/predefined.h>

// libcu++ writes its type lists out to this length, as 16 templates nested within each other, whose parse
// takes time (1.3 s) and memory (180 MB) that double with each level; 10 is its own choice for nvcc.
#define _CCCL_META_UNROLL_LIMIT 10

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#endif
