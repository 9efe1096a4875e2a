// C = A B of row-major matrices: by tiles in shared memory, and with 4 x 4 results in each thread's registers.
extern "C" __global__ void matmul_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
    constexpr int TILE = 16;
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int at = 0; at < k; at += TILE) {
        as[threadIdx.y][threadIdx.x] = row < m && at + threadIdx.x < k ? a[row * k + at + threadIdx.x] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = at + threadIdx.y < k && column < n ? b[(at + threadIdx.y) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// Blocks of 8 x 8 threads; sides are multiples of 32, k of 8.
extern "C" __global__ void matmul_registers(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float as[8][32], bs[8][32];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 8 + tx;
    int row = blockIdx.y * 32, column = blockIdx.x * 32;
    float sums[4][4] = {};
    for (int at = 0; at < k; at += 8) {
        float4 left = *(const float4*)&a[(row + t / 2) * k + at + t % 2 * 4];
        as[t % 2 * 4 + 0][t / 2] = left.x;
        as[t % 2 * 4 + 1][t / 2] = left.y;
        as[t % 2 * 4 + 2][t / 2] = left.z;
        as[t % 2 * 4 + 3][t / 2] = left.w;
        *(float4*)&bs[t / 8][t % 8 * 4] = *(const float4*)&b[(at + t / 8) * n + column + t % 8 * 4];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; i++) {
            float4 l = *(float4*)&as[i][ty * 4], r = *(float4*)&bs[i][tx * 4];
            float ls[4] = {l.x, l.y, l.z, l.w}, rs[4] = {r.x, r.y, r.z, r.w};
#pragma unroll
            for (int y = 0; y < 4; y++)
#pragma unroll
                for (int x = 0; x < 4; x++) sums[y][x] += ls[y] * rs[x];
        }
        __syncthreads();
    }
    for (int y = 0; y < 4; y++)
        *(float4*)&c[(row + ty * 4 + y) * n + column + tx * 4] =
            make_float4(sums[y][0], sums[y][1], sums[y][2], sums[y][3]);
}
