// Softmax and layer norm, a block a row.
__device__ float block_reduce(float value, bool is_max) {
    __shared__ float partial[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int offset = 16; offset > 0; offset /= 2) {
        float other = __shfl_xor_sync(~0u, value, offset);
        value = is_max ? fmaxf(value, other) : value + other;
    }
    __syncthreads();
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    value = partial[0];
    for (int i = 1; i < blockDim.x / 32; i++) value = is_max ? fmaxf(value, partial[i]) : value + partial[i];
    return value;
}

extern "C" __global__ void softmax(const float* in, float* out, int n) {
    const float* row = in + blockIdx.x * n;
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, row[i]);
    most = block_reduce(most, true);
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - most);
    sum = block_reduce(sum, false);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = expf(row[i] - most) / sum;
}

extern "C" __global__ void layer_norm(const float* in, const float* gain, float* out, int n) {
    const float* row = in + blockIdx.x * n;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i];
    float mean = block_reduce(sum, false) / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) squares += (row[i] - mean) * (row[i] - mean);
    float scale = rsqrtf(block_reduce(squares, false) / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = (row[i] - mean) * scale * gain[i];
}
