// C = A B by warp matrices, a warp a tile. Small whole numbers, which each type holds exactly.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

template <typename T, typename Element, typename Sum, int K>
__device__ void product(const Element* a, const Element* b, Sum* c, int n, int k) {
    wmma::fragment<wmma::matrix_a, 16, 16, K, T, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, K, T, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, K, Sum> sum;
    wmma::fill_fragment(sum, Sum(0));
    int row = blockIdx.y * 16, column = blockIdx.x * 16;
    for (int at = 0; at < k; at += K) {
        wmma::load_matrix_sync(left, a + row * k + at, k);
        wmma::load_matrix_sync(right, b + at * n + column, n);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

extern "C" __global__ void wmma_f16(const half* a, const half* b, float* c, int n, int k) {
    product<half, half, float, 16>(a, b, c, n, k);
}
extern "C" __global__ void wmma_f16_sums(const half* a, const half* b, half* c, int n, int k) {
    product<half, half, half, 16>(a, b, c, n, k);
}
extern "C" __global__ void wmma_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, int k) {
    product<__nv_bfloat16, __nv_bfloat16, float, 16>(a, b, c, n, k);
}
extern "C" __global__ void wmma_tf32(const float* a, const float* b, float* c, int n, int k) {
    product<wmma::precision::tf32, float, float, 8>(a, b, c, n, k);
}
extern "C" __global__ void wmma_int8(const signed char* a, const signed char* b, int* c, int n, int k) {
    product<signed char, signed char, int, 16>(a, b, c, n, k);
}
