// What `counted` runs: each kernel shows one thing that counters are about. All take the same
// arguments; `n` is 262144 and a block has 256 threads, but where a comment says otherwise.

#define KERNEL extern "C" __global__ void

__device__ int self() { return blockIdx.x * blockDim.x + threadIdx.x; }

KERNEL contiguous(const float* a, const int* at, float* c, int n) {
    int i = self();
    c[i] = a[i];
}

KERNEL contiguous_16(const float* a, const int* at, float* c, int n) {
    int i = self();
    if (i < n / 4) reinterpret_cast<float4*>(c)[i] = reinterpret_cast<const float4*>(a)[i];
}

KERNEL strided(const float* a, const int* at, float* c, int n) {
    int i = self();
    c[i] = a[(i * 9) & (n - 1)];
}

KERNEL misaligned(const float* a, const int* at, float* c, int n) {
    int i = self();
    c[i] = a[i + 1];
}

KERNEL broadcast(const float* a, const int* at, float* c, int n) {
    int i = self();
    c[i] = a[i / 32] + a[0];
}

KERNEL random(const float* a, const int* at, float* c, int n) {
    int i = self();
    c[i] = a[at[i]];
}

// Blocks of 32 x 8 threads turn tiles of 32 x 32; the matrix is 512 x 512.
template <int WIDTH, bool SWIZZLED>
__device__ void transposed(const float* a, float* c) {
    __shared__ float tile[32][WIDTH];
    int column = threadIdx.x & 31, row = threadIdx.x >> 5;
    int x = (blockIdx.x & 15) * 32, y = (blockIdx.x >> 4) * 32;
    for (int r = row; r < 32; r += 8) tile[r][SWIZZLED ? column ^ r : column] = a[(y + r) * 512 + x + column];
    __syncthreads();
    for (int r = row; r < 32; r += 8) c[(x + r) * 512 + y + column] = tile[column][SWIZZLED ? r ^ column : r];
}

KERNEL transpose(const float* a, const int* at, float* c, int n) {
    if (blockIdx.x < 256) transposed<32, false>(a, c);
}

KERNEL transpose_padded(const float* a, const int* at, float* c, int n) {
    if (blockIdx.x < 256) transposed<33, false>(a, c);
}

KERNEL transpose_swizzled(const float* a, const int* at, float* c, int n) {
    if (blockIdx.x < 256) transposed<32, true>(a, c);
}

// Shared memory by 8 and by 16 bytes: a lane beside the next, then every second.
template <typename T>
__device__ void wide(const float* a, float* c, int step) {
    __shared__ T kept[512];
    T value{};
    reinterpret_cast<float*>(&value)[0] = a[self()];
    kept[(threadIdx.x * step) & 511] = value;
    __syncthreads();
    value = kept[((threadIdx.x ^ 1) * step) & 511];
    c[self()] = reinterpret_cast<float*>(&value)[0];
}

KERNEL shared_8(const float* a, const int* at, float* c, int n) { wide<double>(a, c, 1); }
KERNEL shared_8_strided(const float* a, const int* at, float* c, int n) { wide<double>(a, c, 2); }
KERNEL shared_16(const float* a, const int* at, float* c, int n) { wide<float4>(a, c, 1); }
KERNEL shared_16_strided(const float* a, const int* at, float* c, int n) { wide<float4>(a, c, 2); }

// 512 x 512 x 512 in tiles of 16; a block has 16 x 16 threads.
KERNEL tiled_matmul(const float* a, const int* at, float* c, int n) {
    __shared__ float left[16][16], right[16][16];
    int column = threadIdx.x & 15, row = threadIdx.x >> 4;
    int x = (blockIdx.x & 31) * 16 + column, y = (blockIdx.x >> 5) * 16 + row;
    float sum = 0;
    for (int k = 0; k < 512; k += 16) {
        left[row][column] = a[y * 512 + k + column];
        right[row][column] = a[(k + row) * 512 + x];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += left[row][j] * right[j][column];
        __syncthreads();
    }
    c[y * 512 + x] = sum;
}

KERNEL histogram(const float* a, const int* at, float* c, int n) {
    __shared__ unsigned counts[64];
    if (threadIdx.x < 64) counts[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&counts[at[self()] & 63], 1u);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(reinterpret_cast<unsigned*>(c) + threadIdx.x, counts[threadIdx.x]);
}

KERNEL reduction(const float* a, const int* at, float* c, int n) {
    float sum = a[self()];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if ((threadIdx.x & 31) == 0) atomicAdd(c, sum);
}

// Every lane goes round as often as its number says.
KERNEL divergent(const float* a, const int* at, float* c, int n) {
    int i = self();
    float x = a[i];
    for (int k = 0; k < (i & 31); k++) x = x * x + 0.5f;
    c[i] = x;
}

KERNEL doubles(const float* a, const int* at, float* c, int n) {
    int i = self();
    double x = a[i];
    for (int k = 0; k < 16; k++) x = x * 0.5 + 0.25;
    c[i] = x;
}
