// A sparse matrix in rows times a vector, distances in a graph, a hash table with open addressing.
extern "C" __global__ void spmv(const int* starts, const int* columns, const float* values, const float* x, float* y,
                                int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * __ldg(&x[columns[i]]);
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
    if (lane == 0) y[row] = sum;
}

// Steps outward from node 0 until nothing is new.
extern "C" __global__ void breadth_first(const int* starts, const int* edges, int* distance, int nodes) {
    for (int i = threadIdx.x; i < nodes; i += blockDim.x) distance[i] = i ? -1 : 0;
    __syncthreads();
    for (int level = 0;; level++) {
        int found = 0;
        for (int node = threadIdx.x; node < nodes; node += blockDim.x) {
            if (distance[node] != level) continue;
            for (int i = starts[node]; i < starts[node + 1]; i++)
                if (atomicCAS(&distance[edges[i]], -1, level + 1) == -1) found = 1;
        }
        if (!__syncthreads_or(found)) return;
    }
}

// Counts each key (none is 0) in a table of 512 slots, then answers how often it came.
extern "C" __global__ void hash_table(const unsigned* keys, unsigned* counts, int n) {
    __shared__ unsigned slots[512], held[512];
    for (int i = threadIdx.x; i < 512; i += blockDim.x) slots[i] = held[i] = 0;
    __syncthreads();
    auto first = [](unsigned key) { return key * 2654435761u >> 23; };
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned at = first(keys[i]);
        for (;; at = (at + 1) % 512) {
            unsigned old = atomicCAS(&slots[at], 0u, keys[i]);
            if (old == 0 || old == keys[i]) break;
        }
        atomicAdd(&held[at], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned at = first(keys[i]);
        while (slots[at] != keys[i]) at = (at + 1) % 512;
        counts[i] = held[at];
    }
}
