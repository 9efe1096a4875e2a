// The C++ overloads that NVRTC's built-in math lacks, and <cmath>'s names in std.
#ifndef LIGHTSPEED_SHIM_MATH_H
#define LIGHTSPEED_SHIM_MATH_H

#ifndef INFINITY
#define INFINITY (__builtin_bit_cast(float, 0x7f800000u))
#endif
#ifndef NAN
#define NAN (__builtin_bit_cast(float, 0x7fc00000u))
#endif
#ifndef HUGE_VAL
#define HUGE_VAL (__builtin_bit_cast(double, 0x7ff0000000000000ull))
#define HUGE_VALF INFINITY
#endif
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif

namespace lightspeed_detail {
template <bool Condition, class T> struct only_if {};
template <class T> struct only_if<true, T> { typedef T type; };
template <class T> struct is_int { enum : bool { value = false }; };
template <> struct is_int<bool> { enum : bool { value = true }; };
template <> struct is_int<char> { enum : bool { value = true }; };
template <> struct is_int<signed char> { enum : bool { value = true }; };
template <> struct is_int<unsigned char> { enum : bool { value = true }; };
template <> struct is_int<short> { enum : bool { value = true }; };
template <> struct is_int<unsigned short> { enum : bool { value = true }; };
template <> struct is_int<int> { enum : bool { value = true }; };
template <> struct is_int<unsigned int> { enum : bool { value = true }; };
template <> struct is_int<long> { enum : bool { value = true }; };
template <> struct is_int<unsigned long> { enum : bool { value = true }; };
template <> struct is_int<long long> { enum : bool { value = true }; };
template <> struct is_int<unsigned long long> { enum : bool { value = true }; };
template <class T> struct is_real { enum : bool { value = false }; };
template <> struct is_real<float> { enum : bool { value = true }; };
template <> struct is_real<double> { enum : bool { value = true }; };
template <class T> struct is_number { enum : bool { value = is_int<T>::value || is_real<T>::value }; };
template <class T, class U> struct same { enum : bool { value = false }; };
template <class T> struct same<T, T> { enum : bool { value = true }; };
// Two numbers of different types, or two integers: C++ computes in double.
template <class T, class U> struct mixed {
    enum : bool { value = is_number<T>::value && is_number<U>::value
        && !(same<T, U>::value && is_real<T>::value) };
};
}

// An integer argument is converted to double.
#define LIGHTSPEED_OF_INTEGER(name) \
    template <class T> \
    inline __device__ typename lightspeed_detail::only_if<lightspeed_detail::is_int<T>::value, double>::type \
    name(T x) { return ::name(static_cast<double>(x)); }
LIGHTSPEED_OF_INTEGER(sqrt)
LIGHTSPEED_OF_INTEGER(rsqrt)
LIGHTSPEED_OF_INTEGER(cbrt)
LIGHTSPEED_OF_INTEGER(exp)
LIGHTSPEED_OF_INTEGER(exp2)
LIGHTSPEED_OF_INTEGER(expm1)
LIGHTSPEED_OF_INTEGER(log)
LIGHTSPEED_OF_INTEGER(log2)
LIGHTSPEED_OF_INTEGER(log10)
LIGHTSPEED_OF_INTEGER(log1p)
LIGHTSPEED_OF_INTEGER(sin)
LIGHTSPEED_OF_INTEGER(cos)
LIGHTSPEED_OF_INTEGER(tan)
LIGHTSPEED_OF_INTEGER(asin)
LIGHTSPEED_OF_INTEGER(acos)
LIGHTSPEED_OF_INTEGER(atan)
LIGHTSPEED_OF_INTEGER(sinh)
LIGHTSPEED_OF_INTEGER(cosh)
LIGHTSPEED_OF_INTEGER(tanh)
LIGHTSPEED_OF_INTEGER(erf)
LIGHTSPEED_OF_INTEGER(ceil)
LIGHTSPEED_OF_INTEGER(floor)
LIGHTSPEED_OF_INTEGER(round)
LIGHTSPEED_OF_INTEGER(trunc)
LIGHTSPEED_OF_INTEGER(rint)
LIGHTSPEED_OF_INTEGER(fabs)
#undef LIGHTSPEED_OF_INTEGER

#define LIGHTSPEED_OF_MIXED(name) \
    template <class T, class U> \
    inline __device__ typename lightspeed_detail::only_if<lightspeed_detail::mixed<T, U>::value, double>::type \
    name(T x, U y) { return ::name(static_cast<double>(x), static_cast<double>(y)); }
LIGHTSPEED_OF_MIXED(pow)
LIGHTSPEED_OF_MIXED(fmin)
LIGHTSPEED_OF_MIXED(fmax)
LIGHTSPEED_OF_MIXED(fmod)
LIGHTSPEED_OF_MIXED(fdim)
LIGHTSPEED_OF_MIXED(atan2)
LIGHTSPEED_OF_MIXED(hypot)
#undef LIGHTSPEED_OF_MIXED

namespace std {
using ::abs;
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::cbrt;
using ::ceil;
using ::copysign;
using ::cos;
using ::cosh;
using ::erf;
using ::erfc;
using ::exp;
using ::exp2;
using ::expm1;
using ::fabs;
using ::fdim;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::frexp;
using ::hypot;
using ::ilogb;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::ldexp;
using ::lgamma;
using ::llrint;
using ::llround;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::logb;
using ::lrint;
using ::lround;
using ::modf;
using ::nearbyint;
using ::nextafter;
using ::pow;
using ::remainder;
using ::rint;
using ::round;
using ::signbit;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
using ::tgamma;
using ::trunc;
using ::expf;
using ::logf;
using ::sqrtf;
using ::fabsf;
using ::fmaxf;
using ::fminf;
using ::powf;
using ::sinf;
using ::cosf;
using ::tanhf;
using ::floorf;
using ::ceilf;
using ::roundf;
using ::fmaf;
using ::fmodf;
using ::erff;
}

#endif
