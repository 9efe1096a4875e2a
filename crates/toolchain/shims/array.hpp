#ifndef LIGHTSPEED_SHIM_ARRAY_HPP
#define LIGHTSPEED_SHIM_ARRAY_HPP

#include <stddef.h>

namespace std {
template <class T, size_t N> struct array {
    typedef T value_type;
    T elements[N ? N : 1];
    __host__ __device__ constexpr T &operator[](size_t i) { return elements[i]; }
    __host__ __device__ constexpr const T &operator[](size_t i) const { return elements[i]; }
    __host__ __device__ constexpr T *data() { return elements; }
    __host__ __device__ constexpr const T *data() const { return elements; }
    __host__ __device__ constexpr T *begin() { return elements; }
    __host__ __device__ constexpr const T *begin() const { return elements; }
    __host__ __device__ constexpr T *end() { return elements + N; }
    __host__ __device__ constexpr const T *end() const { return elements + N; }
    __host__ __device__ constexpr T &front() { return elements[0]; }
    __host__ __device__ constexpr T &back() { return elements[N - 1]; }
    static __host__ __device__ constexpr size_t size() { return N; }
    __host__ __device__ void fill(const T &value) { for (size_t i = 0; i < N; ++i) elements[i] = value; }
};
}

#endif
