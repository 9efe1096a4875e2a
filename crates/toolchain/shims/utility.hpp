// What device code uses of <utility> and <algorithm>.
#ifndef LIGHTSPEED_SHIM_UTILITY_HPP
#define LIGHTSPEED_SHIM_UTILITY_HPP

#include <type_traits>

namespace std {
template <class T> __host__ __device__ constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> __host__ __device__ constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T, class Less> __host__ __device__ constexpr const T &min(const T &a, const T &b, Less less)
{ return less(b, a) ? b : a; }
template <class T, class Less> __host__ __device__ constexpr const T &max(const T &a, const T &b, Less less)
{ return less(a, b) ? b : a; }
template <class T> __host__ __device__ constexpr const T &clamp(const T &x, const T &low, const T &high)
{ return x < low ? low : high < x ? high : x; }

template <class T> __host__ __device__ constexpr void swap(T &a, T &b)
{
    T old = static_cast<T &&>(a);
    a = static_cast<T &&>(b);
    b = static_cast<T &&>(old);
}
template <class T, class U = T> __host__ __device__ constexpr T exchange(T &target, U &&value)
{
    T old = static_cast<T &&>(target);
    target = static_cast<U &&>(value);
    return old;
}

template <class A, class B> struct pair {
    typedef A first_type;
    typedef B second_type;
    A first;
    B second;
};
template <class A, class B> __host__ __device__ constexpr pair<A, B> make_pair(A a, B b) { return {a, b}; }
template <class A, class B> __host__ __device__ constexpr bool operator==(const pair<A, B> &x, const pair<A, B> &y)
{ return x.first == y.first && x.second == y.second; }
template <class A, class B> __host__ __device__ constexpr bool operator<(const pair<A, B> &x, const pair<A, B> &y)
{ return x.first < y.first || (!(y.first < x.first) && x.second < y.second); }

template <class T, T... Values> struct integer_sequence {
    typedef T value_type;
    static __host__ __device__ constexpr size_t size() noexcept { return sizeof...(Values); }
};
template <size_t... Values> using index_sequence = integer_sequence<size_t, Values...>;
template <class T, T N> using make_integer_sequence = __make_integer_seq<integer_sequence, T, N>;
template <size_t N> using make_index_sequence = make_integer_sequence<size_t, N>;

template <class Iterator, class T> __host__ __device__ constexpr void fill(Iterator first, Iterator last, const T &value)
{ for (; first != last; ++first) *first = value; }
template <class From, class To> __host__ __device__ constexpr To copy(From first, From last, To to)
{
    for (; first != last; ++first, ++to) *to = *first;
    return to;
}
}

#endif
