#ifndef LIGHTSPEED_SHIM_STDDEF_H
#define LIGHTSPEED_SHIM_STDDEF_H

#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif

typedef decltype(static_cast<char *>(nullptr) - static_cast<char *>(nullptr)) ptrdiff_t;

namespace std {
using ::size_t;
using ::ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
}

#endif
