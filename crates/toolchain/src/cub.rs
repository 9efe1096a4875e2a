//! What `cub/cub.cuh` stands for: the headers of the classes that a source names.
//!
//! The real one reads the device-wide half, too, which the host calls; and each of the block- and
//! warp-wide headers costs a tenth of a second or more.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The header that is replaced.
pub(crate) const UMBRELLA: &str = "cub/cub.cuh";

/// Words that ask for a header.
const OF_WORDS: [(&str, &str); 29] = [
    ("BlockAdjacentDifference", "block/block_adjacent_difference"),
    ("BlockDiscontinuity", "block/block_discontinuity"),
    ("BlockExchange", "block/block_exchange"),
    ("BlockHistogram", "block/block_histogram"),
    ("BLOCK_HISTO_", "block/block_histogram"),
    ("BlockLoad", "block/block_load"),
    ("BlockLoadToShared", "block/block_load_to_shared"),
    ("LoadDirect", "block/block_load"),
    ("StoreDirect", "block/block_store"),
    ("BlockTopK", "block/block_topk"),
    ("WarpReduceBatched", "warp/warp_reduce_batched"),
    ("BLOCK_LOAD_", "block/block_load"),
    ("BlockMergeSort", "block/block_merge_sort"),
    ("BlockRadixRank", "block/block_radix_rank"),
    ("BlockRadixSort", "block/block_radix_sort"),
    ("BlockReduce", "block/block_reduce"),
    ("BLOCK_REDUCE_", "block/block_reduce"),
    ("BlockRunLengthDecode", "block/block_run_length_decode"),
    ("BlockScan", "block/block_scan"),
    ("BLOCK_SCAN_", "block/block_scan"),
    ("BlockShuffle", "block/block_shuffle"),
    ("BlockStore", "block/block_store"),
    ("BLOCK_STORE_", "block/block_store"),
    ("WarpExchange", "warp/warp_exchange"),
    ("WarpLoad", "warp/warp_load"),
    ("WarpMergeSort", "warp/warp_merge_sort"),
    ("WarpReduce", "warp/warp_reduce"),
    ("WarpScan", "warp/warp_scan"),
    ("WarpStore", "warp/warp_store"),
];

/// What is read besides where something of CUB is named that is in none of those.
const WIDELY_USED: [&str; 9] = [
    "block/block_discontinuity",
    "block/block_exchange",
    "block/block_load",
    "block/block_radix_sort",
    "block/block_reduce",
    "block/block_scan",
    "block/block_store",
    "warp/warp_reduce",
    "warp/warp_scan",
];

/// The umbrella header for one source.
pub(crate) fn umbrella(source: &str) -> String {
    let named = OF_WORDS
        .iter()
        .filter(|(word, _)| source.contains(word))
        .map(|(_, header)| *header);
    let mut headers: BTreeSet<&str> = named.collect();
    if headers.is_empty() || names_others(source) {
        headers.extend(WIDELY_USED);
    }
    // CUB's users take operators for granted.
    let mut text = "#include <thrust/functional.h>\n".to_owned();
    if source.contains("cuda::std::") {
        text += "#include <cuda/std/functional>\n";
    }
    for header in headers {
        let _infallible = writeln!(text, "#include <cub/{header}.cuh>");
    }
    text
}

/// Whether something of CUB is named by its namespace that no known word begins. After `using namespace cub`
/// nothing tells: a known word then brings its own header only.
fn names_others(source: &str) -> bool {
    source
        .split("cub::")
        .skip(1)
        .any(|rest| !OF_WORDS.iter().any(|(word, _)| rest.starts_with(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers_of(source: &str) -> Vec<String> {
        let text = umbrella(source);
        let lines = text.lines().skip(1);
        let name = |line: &str| line.replace("#include <cub/", "").replace(".cuh>", "");
        lines.map(name).collect()
    }

    #[test]
    fn only_headers_of_named_classes_are_read() {
        let reduction = "typedef cub::BlockReduce<float, 256> Reduce;";
        assert_eq!(headers_of(reduction), ["block/block_reduce"]);
        let loads = "cub::BlockLoad<float, 128, 4, cub::BLOCK_LOAD_VECTORIZE>(t).Load(x, y); cub::WarpScan<int> s;";
        assert_eq!(headers_of(loads), ["block/block_load", "warp/warp_scan"]);
        let opened = "using namespace cub; BlockHistogram<int, 128, 4, 256> h;";
        assert_eq!(headers_of(opened), ["block/block_histogram"]);
    }

    #[test]
    fn what_no_word_tells_brings_all_that_is_widely_used() {
        assert_eq!(headers_of("").len(), WIDELY_USED.len());
        let more = headers_of("cub::LaneId(); cub::WarpMergeSort<int, 1> s;");
        assert_eq!(more.len(), WIDELY_USED.len() + 1);
    }
}
