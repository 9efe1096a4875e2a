// expect: accepted min.emulated=0.08
// 256 threads compute a 64 x 64 tile of C, 4 x 4 elements each: every value read from shared memory
// serves four multiplications.
#define TILE 64
#define STEP 16
#define EACH 4

__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[STEP][TILE];
    __shared__ float b[STEP][TILE];
    int thread = threadIdx.x;
    int left = (thread % 16) * EACH;
    int top = (thread / 16) * EACH;
    int first_column = blockIdx.x * TILE;
    int first_row = blockIdx.y * TILE;
    float sum[EACH][EACH] = {};

    for (int start = 0; start < N; start += STEP) {
        for (int at = thread; at < TILE * STEP; at += 256) {
            int row = at / STEP;
            int j = at % STEP;
            bool inside = first_row + row < M && start + j < N;
            a[j][row] = inside ? A[(first_row + row) * N + start + j] : 0.0f;
        }
        for (int at = thread; at < TILE * STEP; at += 256) {
            int j = at / TILE;
            int column = at % TILE;
            bool inside = start + j < N && first_column + column < K;
            b[j][column] = inside ? B[(start + j) * K + first_column + column] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; j < STEP; ++j) {
            float right[EACH];
            for (int x = 0; x < EACH; ++x) {
                right[x] = b[j][left + x];
            }
            for (int y = 0; y < EACH; ++y) {
                float factor = a[j][top + y];
                for (int x = 0; x < EACH; ++x) {
                    sum[y][x] += factor * right[x];
                }
            }
        }
        __syncthreads();
    }

    for (int y = 0; y < EACH; ++y) {
        for (int x = 0; x < EACH; ++x) {
            int row = first_row + top + y;
            int column = first_column + left + x;
            if (row < M && column < K) {
                C[row * K + column] = sum[y][x];
            }
        }
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 blocks((K + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    matmul<<<blocks, 256>>>(A, B, C, M, N, K);
}
