// The judge's own kernels. They run on the submission's device between its runs: make inputs, poison
// outputs, take digests, and bring the caches into a known state. `kernels.rs` launches them.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

using u8 = unsigned char;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

// Numbers of the element types, as `kernels.rs` has them.
enum Element : u32 { F64, F32, F16, BF16, E4M3, E5M2, I64, U64, I32, U32, I16, I8, U8, BOOL };
enum Kind : u32 { NORMAL, UNIFORM, INTEGERS, CONSTANT, SEQUENCE };

struct Generator {
    u32 key[8];
    double first;   // mean, low, value or start
    double second;  // standard deviation, high or step
    double share;   // of outliers
    double factor;  // of outliers
    i64 low;        // integers
    i64 high;
    u32 kind;
    u32 element;
};

__device__ inline u32 rotate(u32 x, int by) { return __funnelshift_l(x, x, by); }

__device__ inline void quarter(u32& a, u32& b, u32& c, u32& d) {
    a += b; d = rotate(d ^ a, 16);
    c += d; b = rotate(b ^ c, 12);
    a += b; d = rotate(d ^ a, 8);
    c += d; b = rotate(b ^ c, 7);
}

// One block of ChaCha8: four words for each of four elements.
__device__ inline void chacha8(const u32* key, u64 block, u32* out) {
    const u32 start[16] = {
        0x61707865, 0x3320646e, 0x79622d32, 0x6b206574,
        key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7],
        (u32)block, (u32)(block >> 32), 0, 0};
    u32 x[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) x[i] = start[i];
#pragma unroll
    for (int round = 0; round < 4; ++round) {
        quarter(x[0], x[4], x[8], x[12]);
        quarter(x[1], x[5], x[9], x[13]);
        quarter(x[2], x[6], x[10], x[14]);
        quarter(x[3], x[7], x[11], x[15]);
        quarter(x[0], x[5], x[10], x[15]);
        quarter(x[1], x[6], x[11], x[12]);
        quarter(x[2], x[7], x[8], x[13]);
        quarter(x[3], x[4], x[9], x[14]);
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) out[i] = x[i] + start[i];
}

// Products and sums are rounded one by one, as the host's are: a contraction would differ from them.
__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
__device__ inline double plus(double a, double b) { return __dadd_rn(a, b); }

__device__ inline double standard_normal(const u32* w) {
    const double radius = times(plus((double)w[0], 0.5), 0x1p-32);
    const double angle = times(times((double)w[1], 0x1p-32), 6.283185307179586);
    return times(sqrt(times(-2.0, log(radius))), cos(angle));
}

__device__ inline u64 bits(const u32* w) { return (u64)w[0] << 32 | w[1]; }

__device__ inline double unit(const u32* w) { return times((double)(bits(w) >> 11), 0x1p-53); }

__device__ inline double outlying(double value, const Generator& g, const u32* w) {
    return times((double)w[2], 0x1p-32) < g.share ? times(value, g.factor) : value;
}

__device__ inline i64 integer(const Generator& g, const u32* w) {
    const u64 count = (u64)g.high - (u64)g.low + 1;  // 0 stands for 2^64
    const u64 offset = count == 0 ? bits(w) : __umul64hi(bits(w), count);
    return (i64)((u64)g.low + offset);
}

__device__ inline i64 clamp(i64 value, i64 low, i64 high) {
    return value < low ? low : value > high ? high : value;
}

__device__ inline i64 to_integer(double value) {
    if (!(value == value)) return 0;
    if (value >= 9223372036854775808.0) return 9223372036854775807LL;
    if (value <= -9223372036854775808.0) return -9223372036854775807LL - 1;
    return (i64)value;
}

__device__ inline void store_integer(void* out, u64 index, i64 value, u32 element) {
    switch (element) {
        case I64: ((i64*)out)[index] = value; break;
        case U64: ((u64*)out)[index] = value < 0 ? 0 : (u64)value; break;
        case I32: ((int*)out)[index] = (int)clamp(value, -2147483648LL, 2147483647LL); break;
        case U32: ((u32*)out)[index] = (u32)clamp(value, 0, 4294967295LL); break;
        case I16: ((short*)out)[index] = (short)clamp(value, -32768, 32767); break;
        case I8: ((signed char*)out)[index] = (signed char)clamp(value, -128, 127); break;
        case U8: ((u8*)out)[index] = (u8)clamp(value, 0, 255); break;
        default: ((u8*)out)[index] = value != 0; break;
    }
}

__device__ inline void store(void* out, u64 index, double value, u32 element) {
    switch (element) {
        case F64: ((double*)out)[index] = value; break;
        case F32: ((float*)out)[index] = (float)value; break;
        case F16: ((__half*)out)[index] = __double2half(value); break;
        case BF16: ((__nv_bfloat16*)out)[index] = __double2bfloat16(value); break;
        case E4M3:
            ((u8*)out)[index] = __nv_cvt_double_to_fp8(value, __NV_SATFINITE, __NV_E4M3); break;
        case E5M2:
            ((u8*)out)[index] = __nv_cvt_double_to_fp8(value, __NV_SATFINITE, __NV_E5M2); break;
        default: store_integer(out, index, to_integer(value), element); break;
    }
}

__device__ inline void make(void* out, u64 index, const Generator& g, const u32* w) {
    switch (g.kind) {
        case NORMAL: {
            const double value = plus(g.first, times(g.second, standard_normal(w)));
            store(out, index, outlying(value, g, w), g.element);
            break;
        }
        case UNIFORM: {
            const double value = plus(g.first, times(plus(g.second, -g.first), unit(w)));
            store(out, index, outlying(value, g, w), g.element);
            break;
        }
        case INTEGERS: {
            const i64 value = integer(g, w);
            if (g.element <= E5M2) store(out, index, (double)value, g.element);
            else store_integer(out, index, value, g.element);
            break;
        }
        case CONSTANT: store(out, index, g.first, g.element); break;
        default:
            store(out, index, plus(g.first, times(g.second, (double)index)), g.element); break;
    }
}

// One thread makes four neighbouring elements at a time.
extern "C" __global__ void lightspeed_generate(void* out, u64 elements, Generator g) {
    const u64 stride = (u64)gridDim.x * blockDim.x;
    for (u64 block = (u64)blockIdx.x * blockDim.x + threadIdx.x; block * 4 < elements;
         block += stride) {
        u32 words[16];
        chacha8(g.key, block, words);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const u64 index = block * 4 + i;
            if (index < elements) make(out, index, g, words + 4 * i);
        }
    }
}

// Repeats an 8-byte pattern, of which a shorter pattern is a divisor.
extern "C" __global__ void lightspeed_fill(u8* out, u64 bytes, u64 pattern) {
    const u64 stride = (u64)gridDim.x * blockDim.x;
    const u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    for (u64 word = first; word < bytes / 8; word += stride) ((u64*)out)[word] = pattern;
    if (first < bytes % 8) {
        const u64 at = bytes / 8 * 8 + first;
        out[at] = (u8)(pattern >> (8 * first));
    }
}

__device__ inline u64 mix(u64 x) {
    x ^= x >> 33; x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33; x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

// The factor of a place: without the key, as good as random.
__device__ inline u64 factor(u64 key, u64 place) {
    return mix(key + (place + 1) * 0x9e3779b97f4a7c15ULL);
}

// Adds up every half of a word times the factor of its place, modulo 2^64; bytes that fill no word stand for
// halves. A change by d of one half moves the sum by d times a factor, whatever else is changed: for a key
// that was not known when the data was written, at most one factor in 2^33 hides it, as |d| < 2^32.
extern "C" __global__ void lightspeed_digest(const u8* data, u64 bytes, u64 key, u64* sum) {
    const u64 stride = (u64)gridDim.x * blockDim.x;
    const u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u64 mine = 0;
    for (u64 word = first; word < bytes / 8; word += stride) {
        const u64 value = ((const u64*)data)[word];
        mine += (u64)(u32)value * factor(key, 2 * word);
        mine += (value >> 32) * factor(key, 2 * word + 1);
    }
    if (first < bytes % 8)
        mine += data[bytes / 8 * 8 + first] * factor(key, bytes / 8 * 2 + first);
    if (mine != 0) atomicAdd(sum, mine);
}

__device__ inline double load(const void* data, u64 index, u32 element) {
    switch (element) {
        case F64: return ((const double*)data)[index];
        case F32: return ((const float*)data)[index];
        case F16: return __half2float(((const __half*)data)[index]);
        case BF16: return __bfloat162float(((const __nv_bfloat16*)data)[index]);
        default: {
            const __nv_fp8_interpretation_t kind = element == E4M3 ? __NV_E4M3 : __NV_E5M2;
            const __half_raw raw =
                __nv_cvt_fp8_to_halfraw(((const __nv_fp8_storage_t*)data)[index], kind);
            return __half2float(__half(raw));
        }
    }
}

extern "C" __global__ void lightspeed_widen(const void* from, double* doubles, u64 elements,
                                            u32 element) {
    const u64 stride = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += stride)
        doubles[i] = load(from, i, element);
}

// Counts the elements that are not plainly right: finite, and within `slack * scale` and half a unit in
// the last place of a finite expected value. What counts here is looked at again on the host.
extern "C" __global__ void lightspeed_doubtful(
    const void* actual, const double* expected, const double* scale, u64 elements, u32 element,
    double slack, double ulp_of_one, double least_ulp, double largest_ulp, u64* count) {
    const u64 stride = (u64)gridDim.x * blockDim.x;
    u64 mine = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += stride) {
        const double x = load(actual, i, element), r = expected[i], s = scale[i];
        const double power = r == 0 ? 0 : scalbn(ulp_of_one, ilogb(r));
        const double ulp = fmin(fmax(power, least_ulp), largest_ulp);
        const double tolerance = plus(times(slack, s), times(0.5, ulp));
        const bool plain = isfinite(x) && isfinite(r) && isfinite(s) && s >= 0;
        if (!(plain && fabs(plus(x, -r)) <= tolerance)) ++mine;
    }
    if (mine != 0) atomicAdd(count, mine);
}

// Counts the bytes that differ.
extern "C" __global__ void lightspeed_different(const u8* a, const u8* b, u64 bytes, u64* count) {
    const u64 stride = (u64)gridDim.x * blockDim.x;
    u64 mine = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += stride)
        mine += a[i] != b[i];
    if (mine != 0) atomicAdd(count, mine);
}

// Reads more than the L2 holds, so that what it held before is gone and nothing dirty is left. The
// data is zero, which the compiler cannot know: the sink is never written.
extern "C" __global__ void lightspeed_flush(const uint4* data, u64 count, u32* sink) {
    const u64 stride = (u64)gridDim.x * blockDim.x;
    u32 sum = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const uint4 v = __ldcg(data + i);
        sum |= v.x | v.y | v.z | v.w;
    }
    if (sum != 0) *sink = sum;
}

// Takes back any wish of an earlier run that a line stay in the L2.
extern "C" __global__ void lightspeed_demote(u8* data, u64 bytes) {
#if __CUDA_ARCH__ >= 800
    const u64 stride = (u64)gridDim.x * blockDim.x * 128;
    for (u64 at = ((u64)blockIdx.x * blockDim.x + threadIdx.x) * 128; at < bytes; at += stride)
        asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(data + at) : "memory");
#endif
}

// Overwrites the shared memory that a later block could find something in. The sink is never written, which
// the compiler cannot know. No trap: faults of the submission's kernels would pass for ours.
extern "C" __global__ void lightspeed_scrub(u32 words, u32* sink) {
    extern __shared__ u32 shared[];
    for (u32 i = threadIdx.x; i < words; i += blockDim.x) shared[i] = 0;
    __syncthreads();
    if (words != 0 && shared[threadIdx.x % words] != 0) *sink = 1;
}

// A chain of dependent multiply-adds: its time tells the clock and nothing else.
extern "C" __global__ void lightspeed_canary(float* out, u32 steps, float by) {
    float x = by;
    for (u32 i = 0; i < steps; ++i) x = __fmaf_rn(x, by, 0.5f);
    if (x == -1.0f) *out = x;
}
