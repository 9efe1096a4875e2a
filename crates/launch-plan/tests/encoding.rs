//! Host programs that somebody else wrote down.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::anything::Anything;
use common::{limits, parse, vector_add_arguments, with_body};
use launch_plan::{EncodingError, HostProgram, NoFacts};
use proptest::prelude::*;

fn encoded() -> Vec<u8> {
    let source = with_body(
        "struct P { int x; float y[2]; }; const int T = 16; dim3 g(N / T + 1, 2);
         float* d; cudaMalloc(&d, N * sizeof(float)); int h[4] = {1, 2, 3, 4};
         for (int i = 0; i < 3; ++i) { switch (i) { case 1: h[i] += 2; break; default: h[0]--; } }
         do { tk<4, float><<<g, dim3(BLOCK)>>>(A, d, N);
              cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost); } while (h[0] < h[1] && N > 0);
         auto f = [&](int v) { return v > 1 ? v : T; };
         one<<<CEIL_DIV(N, 256), 256, 0, 0>>>(C, N); cudaFree(d);",
    );
    // Whatever of this is beyond the subset stays in the tree as such.
    parse(&source).unwrap().host().to_bytes().unwrap()
}

/// Reads and runs it; neither may panic.
fn tried(bytes: &[u8]) {
    if let Ok(program) = HostProgram::from_bytes(bytes) {
        let _ended = program.run(
            &vector_add_arguments(1000),
            &limits(),
            &NoFacts,
            &mut Anything(vec![0x5a]),
        );
    }
}

#[test]
fn a_program_survives_the_way() {
    let bytes = encoded();
    let again = HostProgram::from_bytes(&bytes).unwrap().to_bytes().unwrap();
    assert_eq!(bytes, again);
}

#[test]
fn what_is_cut_off_or_goes_on_is_no_program() {
    let bytes = encoded();
    assert!(HostProgram::from_bytes(&bytes[..bytes.len() - 1]).is_err());
    assert!(HostProgram::from_bytes(&[]).is_err());
    let mut longer = bytes;
    longer.push(0);
    assert!(HostProgram::from_bytes(&longer).is_err());
    let large = HostProgram::from_bytes(&vec![0; 9 << 20]);
    assert!(matches!(large, Err(EncodingError::TooLarge { .. })));
}

#[test]
fn depth_is_bounded() {
    // Arrays within arrays within arrays, as many as fit.
    assert!(HostProgram::from_bytes(&vec![0x81; 8 << 20]).is_err());
    assert!(HostProgram::from_bytes(&vec![0x9f; 8 << 20]).is_err());
    let nested = |levels: usize| {
        let sum = format!("int x = {}1{};", "(1 + ".repeat(levels), ")".repeat(levels));
        parse(&with_body(&sum)).unwrap().host().to_bytes().unwrap()
    };
    // The deepest that the reader of sources takes is within the bound.
    for levels in [100, 150, 200, 240] {
        assert!(HostProgram::from_bytes(&nested(levels)).is_ok(), "{levels}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn changed_bytes_do_no_harm(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = encoded();
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        tried(&bytes);
    }

    #[test]
    fn flipped_bits_do_no_harm(index in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let mut bytes = encoded();
        let at = index.index(bytes.len());
        bytes[at] ^= 1 << bit;
        tried(&bytes);
    }

    #[test]
    fn moved_pieces_do_no_harm(from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), length in 1..200_usize) {
        let mut bytes = encoded();
        let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
        let piece: Vec<u8> = bytes[from..].iter().take(length).copied().collect();
        bytes.splice(to..to, piece);
        tried(&bytes);
    }

    #[test]
    fn whatever_the_device_says_the_run_ends(bytes in prop::collection::vec(any::<u8>(), 1..24)) {
        let source = with_body(
            "struct S { bool b; short s; double d; }; int h[3]; float f[2]; S st; int t[8] = {};
             float* d; cudaMalloc(&d, 64);
             do {
                 cudaMemcpy(h, A, sizeof(h), cudaMemcpyDeviceToHost);
                 cudaMemcpy(f, A, sizeof(f), cudaMemcpyDeviceToHost);
                 cudaMemcpy(&st, A, sizeof(S), cudaMemcpyDeviceToHost);
                 if (st.b) one<<<h[0], h[1] & 1023>>>(C, N);
                 if (f[0] > f[1]) t[h[2]] = (int)st.d;
                 float* e = d + h[1]; cudaMemset(e, st.s, h[2]);
                 if (f[0] != f[0]) { float* m; cudaMalloc(&m, (size_t)f[1]); cudaFree(m); }
                 h[0] = h[0] << (h[1] % 40) | h[2] / h[0];
             } while (h[0] != h[1]);",
        );
        let program = parse(&source).unwrap();
        let mut side = Anything(bytes);
        let _ended = program.host().run(&vector_add_arguments(1000), &limits(), &NoFacts, &mut side);
    }

    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        tried(&bytes);
    }
}
