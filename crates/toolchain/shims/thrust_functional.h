// Function objects that serve as operators of block-wide algorithms.
#ifndef LIGHTSPEED_SHIM_THRUST_FUNCTIONAL_H
#define LIGHTSPEED_SHIM_THRUST_FUNCTIONAL_H

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

#endif
