// Cooperative groups: tiles of a block, the lanes that took a branch, a barrier over the grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void group_tiles(const unsigned* in, unsigned* out) {
    cg::thread_block block = cg::this_thread_block();
    unsigned value = in[blockIdx.x * blockDim.x + block.thread_rank()];
    auto eight = cg::tiled_partition<8>(block);
    auto warp = cg::tiled_partition<32>(block);
    unsigned found = cg::reduce(eight, value, cg::plus<unsigned>());
    found = found * 3 + eight.shfl(value, (eight.thread_rank() + 3) % 8);
    found = found * 3 + warp.shfl_xor(value, 5) + warp.ballot(value & 1);
    found = found * 3 + cg::reduce(warp, value, cg::greater<unsigned>());
    if (value % 3 == 0) {
        auto some = cg::coalesced_threads();
        found += some.size() * 1000 + some.thread_rank();
    }
    block.sync();
    out[blockIdx.x * blockDim.x + block.thread_rank()] = found;
}

// Each round, every element becomes the sum of itself and one that another block held.
extern "C" __global__ void grid_rounds(unsigned* data, unsigned* out, int rounds) {
    cg::grid_group grid = cg::this_grid();
    unsigned n = gridDim.x * blockDim.x, i = grid.thread_rank();
    unsigned* other = data + n;
    for (int round = 0; round < rounds; round++) {
        other[i] = data[i] * 5 + data[(i + blockDim.x + 7) % n];
        grid.sync();
        unsigned* held = data;
        data = other;
        other = held;
    }
    out[i] = data[i];
}
