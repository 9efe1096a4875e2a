// The counter-based generator of cuRAND's device side, number for number: Philox4x32 with ten rounds.
// The other generators jump between subsequences by tables of a hundred kilobytes, which are not here.
#ifndef LIGHTSPEED_SHIM_CURAND_KERNEL_H
#define LIGHTSPEED_SHIM_CURAND_KERNEL_H

struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned int STATE;
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

struct curandStateXORWOW {};
struct curandStateMRG32k3a {};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;

template <class State>
__device__ void curand_init(unsigned long long, unsigned long long, unsigned long long, State *) {
    static_assert(sizeof(State) == 0,
                  "this generator is not available: use curandStatePhilox4_32_10_t instead of curandState");
}
template <class State> __device__ unsigned int curand(State *) { return 0; }
template <class State> __device__ float curand_uniform(State *) { return 0; }
template <class State> __device__ double curand_uniform_double(State *) { return 0; }
template <class State> __device__ float curand_normal(State *) { return 0; }
template <class State> __device__ float2 curand_normal2(State *) { return float2(); }

namespace lightspeed_curand {
__device__ inline uint4 philox(uint4 c, uint2 k) {
    for (int round = 0; round < 10; round++) {
        unsigned int hi0 = __umulhi(0xD2511F53u, c.x), hi1 = __umulhi(0xCD9E8D57u, c.z);
        c = make_uint4(hi1 ^ c.y ^ k.x, 0xCD9E8D57u * c.z, hi0 ^ c.w ^ k.y, 0xD2511F53u * c.x);
        k.x += 0x9E3779B9u;
        k.y += 0xBB67AE85u;
    }
    return c;
}

__device__ inline void add(curandStatePhilox4_32_10_t *s, unsigned long long n) {
    unsigned int lo = (unsigned int)n, hi = (unsigned int)(n >> 32);
    s->ctr.x += lo;
    if (s->ctr.x < lo) hi++;
    s->ctr.y += hi;
    if (hi > s->ctr.y && !++s->ctr.z) ++s->ctr.w;
    s->output = philox(s->ctr, s->key);
}

__device__ inline float uniform(unsigned int x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2.0f; }

__device__ inline float2 box_muller(unsigned int x, unsigned int y) {
    const float turn = 2.3283064e-10f * 6.2831855f;
    float s = sqrtf(-2.0f * logf(uniform(x)));
    float2 result;
    __sincosf(y * turn + turn / 2.0f, &result.x, &result.y);
    result.x *= s;
    result.y *= s;
    return result;
}
}

__device__ inline void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *s) {
    s->STATE += (unsigned int)(n & 3);
    n /= 4;
    if (s->STATE > 3) {
        n += 1;
        s->STATE -= 4;
    }
    lightspeed_curand::add(s, n);
}

__device__ inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *s) {
    unsigned int lo = (unsigned int)n, hi = (unsigned int)(n >> 32);
    s->ctr.z += lo;
    if (s->ctr.z < lo) hi++;
    s->ctr.w += hi;
    s->output = lightspeed_curand::philox(s->ctr, s->key);
}

__device__ inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                   curandStatePhilox4_32_10_t *s) {
    s->ctr = make_uint4(0, 0, 0, 0);
    s->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
    s->STATE = 0;
    s->boxmuller_flag = s->boxmuller_flag_double = 0;
    s->boxmuller_extra = 0;
    s->boxmuller_extra_double = 0;
    skipahead_sequence(subsequence, s);
    skipahead(offset, s);
}

__device__ inline unsigned int curand(curandStatePhilox4_32_10_t *s) {
    unsigned int x = s->STATE == 0 ? s->output.x : s->STATE == 1 ? s->output.y : s->STATE == 2 ? s->output.z : s->output.w;
    if (++s->STATE == 4) {
        lightspeed_curand::add(s, 1);
        s->STATE = 0;
    }
    return x;
}

__device__ inline uint4 curand4(curandStatePhilox4_32_10_t *s) {
    uint4 old = s->output;
    lightspeed_curand::add(s, 1);
    uint4 next = s->output;
    switch (s->STATE) {
        case 1: return make_uint4(old.y, old.z, old.w, next.x);
        case 2: return make_uint4(old.z, old.w, next.x, next.y);
        case 3: return make_uint4(old.w, next.x, next.y, next.z);
        default: return old;
    }
}

__device__ inline float curand_uniform(curandStatePhilox4_32_10_t *s) { return lightspeed_curand::uniform(curand(s)); }

__device__ inline float4 curand_uniform4(curandStatePhilox4_32_10_t *s) {
    uint4 x = curand4(s);
    return make_float4(lightspeed_curand::uniform(x.x), lightspeed_curand::uniform(x.y), lightspeed_curand::uniform(x.z),
                       lightspeed_curand::uniform(x.w));
}

__device__ inline float2 curand_normal2(curandStatePhilox4_32_10_t *s) {
    unsigned int x = curand(s), y = curand(s);
    return lightspeed_curand::box_muller(x, y);
}

__device__ inline float curand_normal(curandStatePhilox4_32_10_t *s) {
    if (s->boxmuller_flag) {
        s->boxmuller_flag = 0;
        return s->boxmuller_extra;
    }
    float2 pair = curand_normal2(s);
    s->boxmuller_extra = pair.y;
    s->boxmuller_flag = 1;
    return pair.x;
}

__device__ inline float4 curand_normal4(curandStatePhilox4_32_10_t *s) {
    uint4 x = curand4(s);
    float2 a = lightspeed_curand::box_muller(x.x, x.y), b = lightspeed_curand::box_muller(x.z, x.w);
    return make_float4(a.x, a.y, b.x, b.y);
}

#endif
