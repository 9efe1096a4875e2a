// The block- and warp-wide half of CUB; the device-wide half is called from the host.
#ifndef LIGHTSPEED_SHIM_CUB_H
#define LIGHTSPEED_SHIM_CUB_H

#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <thrust/functional.h>

#endif
