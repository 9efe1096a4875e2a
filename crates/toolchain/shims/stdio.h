// printf is built in; everything else of stdio is the host's.
#pragma once

#include <stddef.h>

namespace std {
using ::printf;
}
