// Cooperative groups over plain intrinsics. The toolkit's own header costs seconds a compile; sources
// that need what is missing here (partitions by label, groups above a warp) get that one instead.
#ifndef LIGHTSPEED_SHIM_COOPERATIVE_GROUPS_H
#define LIGHTSPEED_SHIM_COOPERATIVE_GROUPS_H

// libcu++ declares groups as members of this inner name space, too.
namespace cooperative_groups {
namespace __v1 {
namespace detail {
inline __device__ unsigned int lane() { unsigned int x; asm("mov.u32 %0, %%laneid;" : "=r"(x)); return x; }
inline __device__ unsigned int lanes_below() { unsigned int x; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(x)); return x; }
inline __device__ unsigned int thread_rank_in_block()
{ return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
inline __device__ unsigned int block_size() { return blockDim.x * blockDim.y * blockDim.z; }
inline __device__ unsigned long long block_rank_in_grid()
{ return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
inline __device__ unsigned long long blocks_in_grid()
{ return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z; }

// Moves any trivially copyable value between lanes, word by word.
template <class T, class Move> inline __device__ T by_words(const T &value, Move move)
{
    constexpr int count = (sizeof(T) + 3) / 4;
    unsigned int words[count] = {};
    memcpy(words, &value, sizeof(T));
#pragma unroll
    for (int i = 0; i < count; ++i) words[i] = move(words[i]);
    T result;
    memcpy(&result, words, sizeof(T));
    return result;
}

// All blocks of the grid meet; a cooperative launch has them resident at the same time. The first
// block adds what the others leave to half the range, so that each meeting flips the top bit and the
// counter needs no reset. Templates, so that only modules that use them have the counter.
template <int> __device__ unsigned int grid_arrivals = 0;
template <int Counter> inline __device__ void grid_barrier()
{
    __syncthreads();
    if (thread_rank_in_block() == 0) {
        const unsigned int half = 0x80000000u;
        unsigned int others = static_cast<unsigned int>(blocks_in_grid()) - 1;
        __threadfence();
        unsigned int before = atomicAdd(&grid_arrivals<Counter>, block_rank_in_grid() == 0 ? half - others : 1u);
        while (((before ^ *static_cast<volatile unsigned int *>(&grid_arrivals<Counter>)) & half) == 0) { }
        __threadfence();
    }
    __syncthreads();
}
}

struct thread_block {
    static __device__ void sync() { __syncthreads(); }
    static __device__ unsigned int thread_rank() { return detail::thread_rank_in_block(); }
    static __device__ unsigned int size() { return detail::block_size(); }
    static __device__ unsigned int num_threads() { return detail::block_size(); }
    static __device__ dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static __device__ dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static __device__ dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static __device__ dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
};
inline __device__ thread_block this_thread_block() { return thread_block(); }

struct grid_group {
    static __device__ bool is_valid() { return true; }
    template <int Counter = 0> static __device__ void sync() { detail::grid_barrier<Counter>(); }
    static __device__ unsigned long long size() { return detail::blocks_in_grid() * detail::block_size(); }
    static __device__ unsigned long long num_threads() { return size(); }
    static __device__ unsigned long long num_blocks() { return detail::blocks_in_grid(); }
    static __device__ unsigned long long block_rank() { return detail::block_rank_in_grid(); }
    static __device__ unsigned long long thread_rank()
    { return detail::block_rank_in_grid() * detail::block_size() + detail::thread_rank_in_block(); }
    static __device__ dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static __device__ dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static __device__ dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};
inline __device__ grid_group this_grid() { return grid_group(); }

#if __CUDA_ARCH__ >= 900
struct cluster_group {
    static __device__ void barrier_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
    static __device__ void barrier_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
    static __device__ void sync() { barrier_arrive(); barrier_wait(); }
    static __device__ unsigned int block_rank()
    { unsigned int x; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(x)); return x; }
    static __device__ unsigned int num_blocks()
    { unsigned int x; asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(x)); return x; }
    static __device__ dim3 block_index()
    {
        unsigned int x, y, z;
        asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
        asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(y));
        asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(z));
        return dim3(x, y, z);
    }
    static __device__ dim3 dim_blocks()
    {
        unsigned int x, y, z;
        asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(x));
        asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(y));
        asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(z));
        return dim3(x, y, z);
    }
    static __device__ unsigned int size() { return num_blocks() * detail::block_size(); }
    static __device__ unsigned int num_threads() { return size(); }
    static __device__ unsigned int thread_rank()
    { return block_rank() * detail::block_size() + detail::thread_rank_in_block(); }
    // The same shared variable in another block of the cluster.
    template <class T> static __device__ T *map_shared_rank(T *pointer, int rank)
    {
        unsigned long long mapped;
        asm("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(pointer), "r"(rank));
        return reinterpret_cast<T *>(mapped);
    }
};
inline __device__ cluster_group this_cluster() { return cluster_group(); }
#endif

// What tiles and coalesced groups share: some lanes of one warp.
template <class Group> struct warp_part {
    __device__ const Group &self() const { return static_cast<const Group &>(*this); }
    __device__ void sync() const { __syncwarp(self().mask()); }
    __device__ int any(int predicate) const { return __any_sync(self().mask(), predicate); }
    __device__ int all(int predicate) const { return __all_sync(self().mask(), predicate); }
};

// The group that a tile divides: the block, or a larger tile.
template <class Parent> struct divided {
    static __device__ unsigned int thread_rank() { return Parent::thread_rank(); }
    static __device__ unsigned int size() { return Parent::size(); }
};
template <> struct divided<void> : divided<thread_block> {};

template <unsigned int Size, class Parent = void> struct thread_block_tile : warp_part<thread_block_tile<Size, Parent>> {
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "tiles of 1, 2, 4, 8, 16 or 32 threads");
    __device__ thread_block_tile() {}
    template <class Other> __device__ thread_block_tile(const thread_block_tile<Size, Other> &) {}
    static __device__ unsigned int first_lane() { return detail::lane() & ~(Size - 1); }
    static __device__ unsigned int mask()
    { return Size == 32 ? 0xffffffffu : ((1ull << Size) - 1) << first_lane(); }
    static __device__ unsigned int thread_rank() { return detail::lane() & (Size - 1); }
    static __device__ constexpr unsigned int size() { return Size; }
    static __device__ constexpr unsigned int num_threads() { return Size; }
    static __device__ unsigned int meta_group_rank() { return divided<Parent>::thread_rank() / Size; }
    static __device__ unsigned int meta_group_size() { return (divided<Parent>::size() + Size - 1) / Size; }
    static __device__ unsigned int ballot(int predicate)
    {
        unsigned int votes = __ballot_sync(mask(), predicate);
        return Size == 32 ? votes : (votes & mask()) >> first_lane();
    }
    template <class T> static __device__ T shfl(const T &value, int rank)
    { return detail::by_words(value, [=](unsigned int w) { return __shfl_sync(mask(), w, rank, Size); }); }
    template <class T> static __device__ T shfl_down(const T &value, unsigned int by)
    { return detail::by_words(value, [=](unsigned int w) { return __shfl_down_sync(mask(), w, by, Size); }); }
    template <class T> static __device__ T shfl_up(const T &value, unsigned int by)
    { return detail::by_words(value, [=](unsigned int w) { return __shfl_up_sync(mask(), w, by, Size); }); }
    template <class T> static __device__ T shfl_xor(const T &value, unsigned int bits)
    { return detail::by_words(value, [=](unsigned int w) { return __shfl_xor_sync(mask(), w, bits, Size); }); }
    template <class T> static __device__ unsigned int match_any(const T &value)
    { return (__match_any_sync(mask(), value) & mask()) >> first_lane(); }
    template <class T> static __device__ unsigned int match_all(const T &value, int &equal)
    { return (__match_all_sync(mask(), value, &equal) & mask()) >> first_lane(); }
};

struct coalesced_group : warp_part<coalesced_group> {
    unsigned int members;
    explicit __device__ coalesced_group(unsigned int mask) : members(mask) {}
    __device__ unsigned int mask() const { return members; }
    __device__ unsigned int size() const { return __popc(members); }
    __device__ unsigned int num_threads() const { return size(); }
    __device__ unsigned int thread_rank() const { return __popc(members & detail::lanes_below()); }
    __device__ unsigned int meta_group_rank() const { return 0; }
    __device__ unsigned int meta_group_size() const { return 1; }
    // The lane of a rank: the rank-th set bit.
    __device__ unsigned int lane_of(unsigned int rank) const { return __fns(members, 0, rank + 1); }
    template <class T> __device__ T shfl(const T &value, unsigned int rank) const
    {
        unsigned int mask = members, lane = lane_of(rank);
        return detail::by_words(value, [=](unsigned int w) { return __shfl_sync(mask, w, lane); });
    }
    template <class T> __device__ T shfl_down(const T &value, unsigned int by) const
    { unsigned int rank = thread_rank(); return shfl(value, rank + by < size() ? rank + by : rank); }
    template <class T> __device__ T shfl_up(const T &value, unsigned int by) const
    { unsigned int rank = thread_rank(); return shfl(value, rank >= by ? rank - by : rank); }
    __device__ unsigned int ballot(int predicate) const
    {
        unsigned int votes = __ballot_sync(members, predicate), packed = 0;
        for (unsigned int rank = 0, left = members; left; left &= left - 1, ++rank)
            packed |= (votes >> (__ffs(left) - 1) & 1u) << rank;
        return packed;
    }
};
inline __device__ coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// A block or a part of a warp, chosen while running. No members stand for the block.
struct thread_group {
    unsigned int members;
    __device__ thread_group(const thread_block &) : members(0) {}
    __device__ thread_group(const coalesced_group &g) : members(g.mask()) {}
    template <unsigned int Size, class Parent>
    __device__ thread_group(const thread_block_tile<Size, Parent> &g) : members(g.mask()) {}
    __device__ void sync() const
    {
        if (members) __syncwarp(members);
        else __syncthreads();
    }
    __device__ unsigned long long size() const { return members ? __popc(members) : detail::block_size(); }
    __device__ unsigned long long num_threads() const { return size(); }
    __device__ unsigned long long thread_rank() const
    { return members ? __popc(members & detail::lanes_below()) : detail::thread_rank_in_block(); }
};

template <unsigned int Size> inline __device__ thread_block_tile<Size, thread_block> tiled_partition(const thread_block &)
{ return thread_block_tile<Size, thread_block>(); }
template <unsigned int Size, unsigned int Outer, class Parent>
inline __device__ thread_block_tile<Size, thread_block_tile<Outer, Parent>>
tiled_partition(const thread_block_tile<Outer, Parent> &)
{
    static_assert(Size <= Outer, "a tile is no larger than the group it divides");
    return thread_block_tile<Size, thread_block_tile<Outer, Parent>>();
}
// Of a group chosen while running, only whole tiles of a block can be divided.
inline __device__ thread_group tiled_partition(const thread_group &, unsigned int size)
{
    unsigned int first = detail::lane() & ~(size - 1);
    return coalesced_group(size == 32 ? 0xffffffffu : ((1u << size) - 1) << first);
}

template <class Group> inline __device__ void sync(const Group &group) { group.sync(); }
template <class Group> inline __device__ auto thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> inline __device__ auto group_size(const Group &group) { return group.size(); }

template <class T> struct plus { __device__ T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { __device__ T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { __device__ T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { __device__ T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { __device__ T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { __device__ T operator()(T a, T b) const { return a ^ b; } };

// Every thread gets the result.
template <unsigned int Size, class Parent, class T, class Op>
inline __device__ T reduce(const thread_block_tile<Size, Parent> &tile, T value, Op op)
{
#pragma unroll
    for (unsigned int bits = Size / 2; bits > 0; bits /= 2) value = op(value, tile.shfl_xor(value, bits));
    return value;
}
template <class T, class Op> inline __device__ T reduce(const coalesced_group &group, T value, Op op)
{
    T result = group.shfl(value, 0);
    for (unsigned int rank = 1; rank < group.size(); ++rank) result = op(result, group.shfl(value, rank));
    return result;
}

template <class Group, class T, class Op> inline __device__ T inclusive_scan(const Group &group, T value, Op op)
{
    for (unsigned int by = 1; by < group.size(); by *= 2) {
        T before = group.shfl_up(value, by);
        if (group.thread_rank() >= by) value = op(before, value);
    }
    return value;
}
template <class Group, class T> inline __device__ T inclusive_scan(const Group &group, T value)
{ return inclusive_scan(group, value, plus<T>()); }
template <class Group, class T, class Op> inline __device__ T exclusive_scan(const Group &group, T value, Op op)
{
    T before = group.shfl_up(inclusive_scan(group, value, op), 1);
    return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> inline __device__ T exclusive_scan(const Group &group, T value)
{ return exclusive_scan(group, value, plus<T>()); }

// Copied when the call returns; the wait makes it visible to the group.
template <class Group, class T>
inline __device__ void memcpy_async(const Group &group, T *to, const T *from, size_t bytes)
{
    for (size_t i = group.thread_rank(); i < bytes / sizeof(T); i += group.size()) to[i] = from[i];
}
template <class Group> inline __device__ void wait(const Group &group) { group.sync(); }
template <unsigned int, class Group> inline __device__ void wait_prior(const Group &group) { group.sync(); }
}
using namespace __v1;
}

#endif
