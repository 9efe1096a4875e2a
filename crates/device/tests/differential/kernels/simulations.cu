// Accelerations of bodies, one step of k-means, shortest paths between all, a transform of 256 complex numbers.
extern "C" __global__ void n_body(const float4* bodies, float4* out, int n) {
    __shared__ float4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 own = bodies[i];
    float ax = 0, ay = 0, az = 0;
    for (int at = 0; at < n; at += 64) {
        tile[threadIdx.x] = bodies[at + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            float4 other = tile[j];
            float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.5f);
            float pull = other.w * inverse * inverse * inverse;
            ax += pull * dx, ay += pull * dy, az += pull * dz;
        }
        __syncthreads();
    }
    out[i] = make_float4(ax, ay, az, own.w);
}

// `out`: of each cluster the count and the sums of x and y, then each point's cluster.
extern "C" __global__ void k_means_step(const int2* points, const int2* centers, int* out, int n, int clusters) {
    __shared__ int sums[16][3];
    for (int i = threadIdx.x; i < clusters * 3; i += blockDim.x) (&sums[0][0])[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int2 p = points[i];
        int nearest = 0, least = 0x7fffffff;
        for (int c = 0; c < clusters; c++) {
            int dx = p.x - centers[c].x, dy = p.y - centers[c].y, distance = dx * dx + dy * dy;
            if (distance < least) least = distance, nearest = c;
        }
        atomicAdd(&sums[nearest][0], 1);
        atomicAdd(&sums[nearest][1], p.x);
        atomicAdd(&sums[nearest][2], p.y);
        out[clusters * 3 + i] = nearest;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < clusters * 3; i += blockDim.x) out[i] = (&sums[0][0])[i];
}

// A block of as many threads as there are nodes, at most 32 by 32.
extern "C" __global__ void floyd_warshall(const int* in, int* out, int n) {
    __shared__ int distance[24][25];
    int x = threadIdx.x, y = threadIdx.y;
    distance[y][x] = in[y * n + x];
    for (int k = 0; k < n; k++) {
        __syncthreads();
        int through = distance[y][k] + distance[k][x];
        __syncthreads();
        distance[y][x] = min(distance[y][x], through);
    }
    out[y * n + x] = distance[y][x];
}

extern "C" __global__ void fourier(const float2* in, float2* out) {
    __shared__ float2 data[256];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 128) data[__brev(i) >> 24] = in[blockIdx.x * 256 + i];
    for (int half = 1; half < 256; half *= 2) {
        __syncthreads();
        int within = t & (half - 1), low = 2 * t - within, high = low + half;
        float sine, cosine;
        sincospif(-(float)within / half, &sine, &cosine);
        float2 a = data[low], b = data[high];
        float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
        data[low] = make_float2(a.x + turned.x, a.y + turned.y);
        data[high] = make_float2(a.x - turned.x, a.y - turned.y);
    }
    __syncthreads();
    for (int i = t; i < 256; i += 128) out[blockIdx.x * 256 + i] = data[i];
}
