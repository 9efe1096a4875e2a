// Every atomic of every type, with results that no order of threads changes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename T>
__device__ void whole_numbers(T* at, T value) {
    atomicAdd(&at[0], value);
    atomicMin(&at[1], value);
    atomicMax(&at[2], value);
    atomicAnd(&at[3], value | T(0x00ff00f0));
    atomicOr(&at[4], value & T(0x0f0f0f0f));
    atomicXor(&at[5], value);
    // A product, which no instruction has.
    T seen = at[6], assumed;
    do {
        assumed = seen;
        seen = atomicCAS(&at[6], assumed, assumed * (value | T(1)));
    } while (seen != assumed);
}

__device__ void once_each(unsigned* at, unsigned t) {
    atomicSub(&at[0], t);
    atomicInc(&at[1], 99);
    atomicDec(&at[2], 77);
    // What is taken out of a slot of a thread's own is what was put there.
    unsigned old = atomicExch(&at[8 + t], t * 3);
    atomicMax_system(&at[4], old + t);
    atomicAdd_block(&at[3], atomicExch(&at[8 + t], t * 5));
}

// `words`: 8 of each kind of 32 bits, 16 words of floats, then 8 + threads for single turns; `wide`: as 64 bits.
extern "C" __global__ void atomics(const unsigned* in, unsigned* words) {
    __shared__ unsigned u[8];
    __shared__ int s[8];
    __shared__ float f;
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 8) {
        bool is_mask = threadIdx.x == 3, is_product = threadIdx.x == 6, is_least = threadIdx.x == 1;
        u[threadIdx.x] = is_mask || is_least ? ~0u : is_product;
        s[threadIdx.x] = is_least ? 0x7fffffff : is_mask ? -1 : is_product;
        f = 0;
    }
    __syncthreads();
    whole_numbers(u, in[t]);
    whole_numbers(s, (int)in[t]);
    atomicAdd(&f, (float)(in[t] & 255));
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i < 8; i++) {
            atomicXor(&words[i], u[i]);
            atomicXor((int*)&words[8 + i], s[i]);
        }
    float* floats = (float*)(words + 16);
    if (threadIdx.x == 0) atomicAdd(&floats[0], f);
    atomicAdd(&floats[1], 0.5f * (in[t] & 15));
    atomicAdd((half2*)&words[18], __halves2half2(__int2half_rn(in[t] & 3), __int2half_rn(-1)));
    atomicAdd((__nv_bfloat162*)&words[19], __halves2bfloat162(__int2bfloat16_rn(t < 64), __int2bfloat16_rn(t < 32)));
    atomicAdd((half*)&words[20], __int2half_rn(t & 1));
    if (t < 50) atomicAdd((__nv_bfloat16*)&words[21], __int2bfloat16_rn(1));
    atomicAdd((double*)&words[22], 0.25 * in[t]);
    atomicAdd((float2*)&words[24], make_float2(1, in[t] & 7));
    once_each(words + 32, t);
}

extern "C" __global__ void wide_atomics(const unsigned long long* in, unsigned long long* words) {
    __shared__ unsigned long long u[8];
    if (threadIdx.x < 8) u[threadIdx.x] = threadIdx.x == 3 || threadIdx.x == 1 ? ~0ull : threadIdx.x == 6;
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    whole_numbers(u, in[t]);
    long long value = (long long)in[t];
    atomicMin((long long*)&words[8], value);
    atomicMax((long long*)&words[9], value);
    words[16 + t] = atomicExch(&words[16 + t], in[t] + 1) + 7;
    __syncthreads();
    if (threadIdx.x < 8) atomicXor(&words[threadIdx.x], u[threadIdx.x]);
}

struct alignas(16) Pair {
    unsigned long long sum, mixed;
};

// Two words change together, or not at all; `pairs` has one pair for everybody, then one for each thread.
extern "C" __global__ void paired_atomics(const unsigned long long* in, Pair* pairs) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    Pair seen = {0, 0}, assumed;
    do {
        assumed = seen;
        Pair next = {assumed.sum + in[t], assumed.mixed ^ in[t] * 3};
        seen = atomicCAS(&pairs[0], assumed, next);
    } while (seen.sum != assumed.sum || seen.mixed != assumed.mixed);
    atomicExch(&pairs[1 + t], Pair{in[t], 5});
    Pair old = atomicExch(&pairs[1 + t], Pair{7, in[t]});
    pairs[1 + t].sum += old.sum + old.mixed;
}
