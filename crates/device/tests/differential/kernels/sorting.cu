// A bitonic sort in shared memory, the largest eight of each warp's numbers, and a quicksort by recursion.
extern "C" __global__ void bitonic_sort(const unsigned* in, unsigned* out) {
    __shared__ unsigned keys[512];
    int t = threadIdx.x;
    keys[t] = in[t];
    keys[t + 256] = in[t + 256];
    for (int size = 2; size <= 512; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int low = 2 * t - (t & (stride - 1)), high = low + stride;
            bool ascends = (low & size) == 0;
            unsigned a = keys[low], b = keys[high];
            if ((a > b) == ascends) keys[low] = b, keys[high] = a;
        }
    __syncthreads();
    out[t] = keys[t];
    out[t + 256] = keys[t + 256];
}

extern "C" __global__ void top_k(const int* in, int* out, int each) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    int own[4];
    for (int i = 0; i < 4; i++) own[i] = in[warp * 128 + 32 * i + lane];
    for (int k = 0; k < each; k++) {
        int best = max(max(own[0], own[1]), max(own[2], own[3]));
        int most = __reduce_max_sync(~0u, best);
        // The lowest lane that has it gives it away, once.
        int owner = __ffs(__ballot_sync(~0u, best == most)) - 1;
        if (lane == owner)
            for (int i = 0; i < 4; i++)
                if (own[i] == most) {
                    own[i] = -2147483647 - 1;
                    break;
                }
        if (lane == 0) out[warp * each + k] = most;
    }
}

__device__ __noinline__ void quicksort_range(int* keys, int low, int high) {
    if (low >= high) return;
    int pivot = keys[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (keys[i] < pivot) i++;
        while (keys[j] > pivot) j--;
        if (i <= j) {
            int held = keys[i];
            keys[i++] = keys[j];
            keys[j--] = held;
        }
    }
    quicksort_range(keys, low, j);
    quicksort_range(keys, i, high);
}

// A thread sorts `n` numbers.
extern "C" __global__ void quicksort(const int* in, int* out, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < n; i++) out[t * n + i] = in[t * n + i];
    quicksort_range(out + t * n, 0, n - 1);
}
