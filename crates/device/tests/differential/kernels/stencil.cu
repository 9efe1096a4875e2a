// One step of a five-point stencil over a torus, tiles with their halo in shared memory.
constexpr int TILE = 16;

extern "C" __global__ void stencil(const float* in, float* out, int side) {
    __shared__ float tile[TILE + 2][TILE + 2];
    auto at = [&](int x, int y) { return in[((y + side) % side) * side + (x + side) % side]; };
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    tile[ty][tx] = at(x, y);
    if (tx == 1) tile[ty][0] = at(x - 1, y);
    if (tx == TILE) tile[ty][TILE + 1] = at(x + 1, y);
    if (ty == 1) tile[0][tx] = at(x, y - 1);
    if (ty == TILE) tile[TILE + 1][tx] = at(x, y + 1);
    __syncthreads();
    out[y * side + x] = 0.5f * tile[ty][tx] +
                        0.125f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}
