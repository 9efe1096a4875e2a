// The type traits that kernels use.
#ifndef LIGHTSPEED_SHIM_TYPE_TRAITS_HPP
#define LIGHTSPEED_SHIM_TYPE_TRAITS_HPP

namespace std {
template <class T, T Value> struct integral_constant {
    static constexpr T value = Value;
    typedef T value_type;
    typedef integral_constant type;
    __host__ __device__ constexpr operator T() const noexcept { return Value; }
    __host__ __device__ constexpr T operator()() const noexcept { return Value; }
};
// Every other trait derives from this one: an enumerator leaves no global in the module.
template <bool Value> struct integral_constant<bool, Value> {
    enum : bool { value = Value };
    typedef bool value_type;
    typedef integral_constant type;
    __host__ __device__ constexpr operator bool() const noexcept { return Value; }
    __host__ __device__ constexpr bool operator()() const noexcept { return Value; }
};
template <bool Value> using bool_constant = integral_constant<bool, Value>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;

template <bool Condition, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool Condition, class T = void> using enable_if_t = typename enable_if<Condition, T>::type;
template <bool Condition, class T, class U> struct conditional { typedef T type; };
template <class T, class U> struct conditional<false, T, U> { typedef U type; };
template <bool Condition, class T, class U> using conditional_t = typename conditional<Condition, T, U>::type;
template <class...> using void_t = void;

template <class T> struct remove_const { typedef T type; };
template <class T> struct remove_const<const T> { typedef T type; };
template <class T> struct remove_volatile { typedef T type; };
template <class T> struct remove_volatile<volatile T> { typedef T type; };
template <class T> struct remove_cv { typedef typename remove_volatile<typename remove_const<T>::type>::type type; };
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T &> { typedef T type; };
template <class T> struct remove_reference<T &&> { typedef T type; };
template <class T> struct remove_pointer { typedef T type; };
template <class T> struct remove_pointer<T *> { typedef T type; };
template <class T> struct add_const { typedef const T type; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> struct decay { typedef remove_cv_t<remove_reference_t<T>> type; };
template <class T> using decay_t = typename decay<T>::type;
template <class T> using underlying_type_t = __underlying_type(T);

template <class T, class U> struct is_same : false_type {};
template <class T> struct is_same<T, T> : true_type {};
template <class T> struct is_const : false_type {};
template <class T> struct is_const<const T> : true_type {};
template <class T> struct is_pointer : false_type {};
template <class T> struct is_pointer<T *> : true_type {};
template <class T> struct is_void : is_same<remove_cv_t<T>, void> {};

template <class T, class... Choices> struct lightspeed_is_one_of : false_type {};
template <class T, class First, class... Rest> struct lightspeed_is_one_of<T, First, Rest...>
    : bool_constant<is_same<T, First>::value || lightspeed_is_one_of<T, Rest...>::value> {};
template <class T> struct is_floating_point : lightspeed_is_one_of<remove_cv_t<T>, float, double> {};
template <class T> struct is_integral
    : lightspeed_is_one_of<remove_cv_t<T>, bool, char, signed char, unsigned char, short, unsigned short, int,
                           unsigned int, long, unsigned long, long long, unsigned long long> {};
template <class T> struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <class T> struct is_unsigned
    : lightspeed_is_one_of<remove_cv_t<T>, bool, unsigned char, unsigned short, unsigned int, unsigned long,
                           unsigned long long> {};
template <class T> struct is_signed : bool_constant<is_arithmetic<T>::value && !is_unsigned<T>::value> {};
template <class T> struct is_enum : bool_constant<__is_enum(T)> {};
template <class T> struct is_class : bool_constant<__is_class(T)> {};
template <class T> struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class T, class U> struct is_base_of : bool_constant<__is_base_of(T, U)> {};

template <class T, class U> inline constexpr bool is_same_v = is_same<T, U>::value;
template <class T> inline constexpr bool is_const_v = is_const<T>::value;
template <class T> inline constexpr bool is_pointer_v = is_pointer<T>::value;
template <class T> inline constexpr bool is_void_v = is_void<T>::value;
template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;
template <class T> inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> inline constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class T> inline constexpr bool is_signed_v = is_signed<T>::value;
template <class T> inline constexpr bool is_enum_v = is_enum<T>::value;
template <class T, class U> inline constexpr bool is_base_of_v = is_base_of<T, U>::value;

template <class T> struct make_unsigned { typedef T type; };
template <> struct make_unsigned<char> { typedef unsigned char type; };
template <> struct make_unsigned<signed char> { typedef unsigned char type; };
template <> struct make_unsigned<short> { typedef unsigned short type; };
template <> struct make_unsigned<int> { typedef unsigned int type; };
template <> struct make_unsigned<long> { typedef unsigned long type; };
template <> struct make_unsigned<long long> { typedef unsigned long long type; };
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
}

#endif
