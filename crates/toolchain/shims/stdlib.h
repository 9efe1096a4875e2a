#ifndef LIGHTSPEED_SHIM_STDLIB_H
#define LIGHTSPEED_SHIM_STDLIB_H

#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647

namespace std {
using ::abs;
}

#endif
