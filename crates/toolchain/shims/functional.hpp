// Function objects of <functional>.
#ifndef LIGHTSPEED_SHIM_FUNCTIONAL_HPP
#define LIGHTSPEED_SHIM_FUNCTIONAL_HPP

#define LIGHTSPEED_FUNCTOR(name, result, expression) \
    template <class T = void> struct name { \
        __host__ __device__ constexpr result operator()(const T &a, const T &b) const { return expression; } \
    }; \
    template <> struct name<void> { \
        template <class A, class B> \
        __host__ __device__ constexpr auto operator()(const A &a, const B &b) const { return expression; } \
    }

namespace std {
LIGHTSPEED_FUNCTOR(plus, T, a + b);
LIGHTSPEED_FUNCTOR(minus, T, a - b);
LIGHTSPEED_FUNCTOR(multiplies, T, a * b);
LIGHTSPEED_FUNCTOR(divides, T, a / b);
LIGHTSPEED_FUNCTOR(modulus, T, a % b);
LIGHTSPEED_FUNCTOR(less, bool, a < b);
LIGHTSPEED_FUNCTOR(greater, bool, a > b);
LIGHTSPEED_FUNCTOR(less_equal, bool, a <= b);
LIGHTSPEED_FUNCTOR(greater_equal, bool, a >= b);
LIGHTSPEED_FUNCTOR(equal_to, bool, a == b);
LIGHTSPEED_FUNCTOR(not_equal_to, bool, a != b);
LIGHTSPEED_FUNCTOR(bit_and, T, a & b);
LIGHTSPEED_FUNCTOR(bit_or, T, a | b);
LIGHTSPEED_FUNCTOR(bit_xor, T, a ^ b);
}

#endif
