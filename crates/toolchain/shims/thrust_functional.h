// Function objects that serve as operators of block-wide algorithms.
#pragma once

#include <functional>

namespace thrust {
using std::plus;
using std::minus;
using std::multiplies;
using std::divides;
using std::less;
using std::greater;
using std::equal_to;
LIGHTSPEED_FUNCTOR(minimum, T, b < a ? b : a);
LIGHTSPEED_FUNCTOR(maximum, T, a < b ? b : a);
}
