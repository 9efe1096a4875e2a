// std::numeric_limits of the scalar types. Only functions and enumerators: static data members would
// become initialised globals in every module.
#ifndef LIGHTSPEED_SHIM_LIMITS_HPP
#define LIGHTSPEED_SHIM_LIMITS_HPP

#include <float.h>
#include <limits.h>
#include <stdint.h>

namespace std {
template <class T> class numeric_limits {
public:
    enum : bool { is_specialized = false };
};

#define LIGHTSPEED_INTEGER_LIMITS(type, lowest_value, highest_value, value_bits, has_sign) \
    template <> class numeric_limits<type> { \
    public: \
        enum : bool { is_specialized = true, is_signed = has_sign, is_integer = true, is_exact = true, \
                      has_infinity = false, has_quiet_NaN = false }; \
        enum : int { digits = value_bits, digits10 = value_bits * 30103 / 100000, radix = 2 }; \
        static __host__ __device__ constexpr type min() noexcept { return lowest_value; } \
        static __host__ __device__ constexpr type max() noexcept { return highest_value; } \
        static __host__ __device__ constexpr type lowest() noexcept { return lowest_value; } \
        static __host__ __device__ constexpr type epsilon() noexcept { return 0; } \
        static __host__ __device__ constexpr type infinity() noexcept { return 0; } \
    }
LIGHTSPEED_INTEGER_LIMITS(bool, false, true, 1, false);
LIGHTSPEED_INTEGER_LIMITS(char, CHAR_MIN, CHAR_MAX, 7, true);
LIGHTSPEED_INTEGER_LIMITS(signed char, SCHAR_MIN, SCHAR_MAX, 7, true);
LIGHTSPEED_INTEGER_LIMITS(unsigned char, 0, UCHAR_MAX, 8, false);
LIGHTSPEED_INTEGER_LIMITS(short, SHRT_MIN, SHRT_MAX, 15, true);
LIGHTSPEED_INTEGER_LIMITS(unsigned short, 0, USHRT_MAX, 16, false);
LIGHTSPEED_INTEGER_LIMITS(int, INT_MIN, INT_MAX, 31, true);
LIGHTSPEED_INTEGER_LIMITS(unsigned int, 0, UINT_MAX, 32, false);
LIGHTSPEED_INTEGER_LIMITS(long, LONG_MIN, LONG_MAX, 63, true);
LIGHTSPEED_INTEGER_LIMITS(unsigned long, 0, ULONG_MAX, 64, false);
LIGHTSPEED_INTEGER_LIMITS(long long, LLONG_MIN, LLONG_MAX, 63, true);
LIGHTSPEED_INTEGER_LIMITS(unsigned long long, 0, ULLONG_MAX, 64, false);
#undef LIGHTSPEED_INTEGER_LIMITS

#define LIGHTSPEED_REAL_LIMITS(type, prefix, bits, infinity_bits, nan_bits) \
    template <> class numeric_limits<type> { \
    public: \
        enum : bool { is_specialized = true, is_signed = true, is_integer = false, is_exact = false, \
                      has_infinity = true, has_quiet_NaN = true, is_iec559 = true }; \
        enum : int { digits = prefix##_MANT_DIG, digits10 = prefix##_DIG, radix = 2, \
                     max_exponent = prefix##_MAX_EXP, min_exponent = prefix##_MIN_EXP }; \
        static __host__ __device__ constexpr type min() noexcept { return prefix##_MIN; } \
        static __host__ __device__ constexpr type max() noexcept { return prefix##_MAX; } \
        static __host__ __device__ constexpr type lowest() noexcept { return -prefix##_MAX; } \
        static __host__ __device__ constexpr type epsilon() noexcept { return prefix##_EPSILON; } \
        static __host__ __device__ constexpr type denorm_min() noexcept { return prefix##_TRUE_MIN; } \
        static __host__ __device__ constexpr type infinity() noexcept { return __builtin_bit_cast(type, bits(infinity_bits)); } \
        static __host__ __device__ constexpr type quiet_NaN() noexcept { return __builtin_bit_cast(type, bits(nan_bits)); } \
    }
LIGHTSPEED_REAL_LIMITS(float, FLT, uint32_t, 0x7f800000u, 0x7fc00000u);
LIGHTSPEED_REAL_LIMITS(double, DBL, uint64_t, 0x7ff0000000000000ull, 0x7ff8000000000000ull);
#undef LIGHTSPEED_REAL_LIMITS
}

#endif
