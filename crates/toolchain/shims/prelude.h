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

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#endif
