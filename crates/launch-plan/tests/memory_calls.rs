//! Pools, volumes, peers, hints about caches, and the memory that kernels do not reach.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::{BODY_LINE, failure_of, plan_of, plan_text, with_body};

#[test]
fn memory_of_a_pool_is_scratch_like_any_other() {
    let body = "cudaMemPool_t pool; cudaDeviceGetDefaultMemPool(&pool, 0);\n\
        unsigned long long keep = ~0ull;\n\
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);\n\
        cudaMemPoolProps props = {}; props.allocType = cudaMemAllocationTypePinned;\n\
        props.location.type = cudaMemLocationTypeDevice; props.location.id = 0;\n\
        cudaMemPool_t own; cudaMemPoolCreate(&own, &props);\n\
        float *a, *b; cudaMallocFromPoolAsync(&a, 64, own, 0); cudaMallocAsync(&b, 32, pool, 0);\n\
        size_t used; cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used);\n\
        one<<<1, 32>>>(a, used);\n\
        cudaFreeAsync(a, 0); cudaFreeAsync(b, 0);\n\
        cudaMemPoolTrimTo(own, 0); cudaMemPoolDestroy(own);";
    assert_eq!(
        plan_text(body, 9),
        "s0 = alloc 64\ns1 = alloc 32\none <1x1x1, 32x1x1, 0> (s0, 96)\nfree s0\nfree s1"
    );
}

#[test]
fn a_copy_between_peers_stays_on_the_one_device() {
    let body = "int can = 1; cudaDeviceCanAccessPeer(&can, 0, 0);\n\
        if (can) cudaDeviceEnablePeerAccess(0, 0);\n\
        cudaMemcpyPeer(C, 0, A, 0, 16); cudaMemcpyPeerAsync(C, 0, B, 0, 8, 0);";
    assert_eq!(plan_text(body, 9), "copy p2 p0 16\ncopy p2 p1 8");
    let (kind, _, _, message, hint) = failure_of("cudaMemcpyPeer(C, 1, A, 0, 16);", 9);
    assert_eq!(kind, "host_fault");
    assert_eq!(message, "a device is named that does not exist");
    assert!(hint.contains("number 0"), "{hint}");
}

#[test]
fn volumes_are_slices_of_rows() {
    let body = "cudaExtent extent = make_cudaExtent(40, 2, 2);\n\
        cudaPitchedPtr p; cudaMalloc3D(&p, extent); cudaMemset3D(p, 0, extent);\n\
        cudaMemcpy3DParms parms = {0};\n\
        parms.srcPtr = make_cudaPitchedPtr((void*)A, 40, 10, 2); parms.dstPtr = p;\n\
        parms.extent = make_cudaExtent(40, 1, 2); parms.srcPos = make_cudaPos(0, 1, 0);\n\
        parms.kind = cudaMemcpyDeviceToDevice; cudaMemcpy3D(&parms);\n\
        one<<<1, 32>>>((float*)p.ptr, p.pitch); cudaFree(p.ptr);";
    assert_eq!(
        plan_text(body, 100),
        "s0 = alloc 2048\n\
         memset s0 0 40\nmemset s0+512 0 40\nmemset s0+1024 0 40\nmemset s0+1536 0 40\n\
         copy s0 p0+40 40\ncopy s0+1024 p0+120 40\n\
         one <1x1x1, 32x1x1, 0> (s0, 512)\nfree s0"
    );
}

#[test]
fn an_access_policy_window_is_left_out_with_a_warning() {
    let on_a_stream = "cudaStream_t s; cudaStreamCreate(&s); cudaStreamAttrValue attr = {};\n\
        attr.accessPolicyWindow.base_ptr = (void*)A; attr.accessPolicyWindow.num_bytes = 1024;\n\
        attr.accessPolicyWindow.hitRatio = 1.0f;\n\
        attr.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;\n\
        attr.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;\n\
        cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &attr);\n\
        one<<<1, 32, 0, s>>>(C, N); cudaCtxResetPersistingL2Cache();";
    let of_a_launch = "cudaLaunchConfig_t config = {}; config.gridDim = 1; config.blockDim = 32;\n\
        cudaLaunchAttribute attrs[1]; attrs[0].id = cudaLaunchAttributeAccessPolicyWindow;\n\
        attrs[0].val.accessPolicyWindow.num_bytes = 1024; config.attrs = attrs;\n\
        \n\n config.numAttrs = 1; cudaLaunchKernelEx(&config, one, C, N);";
    for body in [on_a_stream, of_a_launch] {
        let plan = plan_of(&with_body(body), 9).unwrap();
        assert_eq!(plan.launch_count(), 1);
        let [warning] = &plan.warnings[..] else {
            panic!("{:?}", plan.warnings)
        };
        assert_eq!(warning.line, Some(BODY_LINE + 5));
        assert!(
            warning.message.contains("access-policy window"),
            "{warning:?}"
        );
    }
}

#[test]
fn hints_and_orders_change_no_plan() {
    let body = "cudaStream_t s; cudaStreamCreate(&s); cudaEvent_t e; cudaEventCreate(&e);\n\
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20); cudaProfilerStart();\n\
        cudaEventRecord(e, s); cudaStreamWaitEvent(s, e, 0); cudaEventRecordWithFlags(e, s, 0);\n\
        if (cudaEventQuery(e) == cudaSuccess && cudaStreamQuery(s) == cudaSuccess)\n\
          one<<<1, 32, 0, s>>>(C, N);\n\
        float* m; cudaMallocManaged(&m, 64); cudaMemAdvise(m, 64, cudaMemAdviseSetReadMostly, 0);\n\
        cudaStreamAttachMemAsync(s, m, 0, cudaMemAttachGlobal);\n\
        cudaMemPrefetchAsync(m, 64, 0, s); one<<<2, 32, 0, s>>>(m, N); cudaFree(m);\n\
        int low, high; cudaDeviceGetStreamPriorityRange(&low, &high);\n\
        cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, high);\n\
        cudaProfilerStop(); cudaStreamDestroy(s); cudaDeviceReset();";
    let plan = plan_of(&with_body(body), 9).unwrap();
    assert_eq!(
        common::text(&plan),
        "one <1x1x1, 32x1x1, 0> (p2, 9)\ns0 = alloc 64\none <2x1x1, 32x1x1, 0> (s0, 9)\nfree s0"
    );
    assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
}

#[test]
fn what_no_plan_can_follow_is_refused_with_the_way_out() {
    for (call, why, way_out) in [
        (
            "cudaTextureObject_t t; cudaCreateTextureObject(&t, 0, 0, 0);",
            "textures",
            "__ldg",
        ),
        ("cudaMallocArray(0, 0, 4, 4);", "textures", "__ldg"),
        (
            "cudaLaunchHostFunc(0, 0, 0);",
            "between kernels",
            "`solve` itself",
        ),
        (
            "float* h; cudaMallocHost(&h, 4); float* d; cudaHostGetDevicePointer(&d, h, 0);",
            "host memory",
            "cudaMalloc",
        ),
        (
            "cudaIpcGetMemHandle(0, 0);",
            "no other process",
            "signature",
        ),
    ] {
        let (kind, _, _, message, hint) = failure_of(call, 9);
        assert_eq!(kind, "unsupported_construct", "{call}: {message}");
        assert!(message.contains(why), "{call}: {message}");
        assert!(hint.contains(way_out), "{call}: {hint}");
    }
}
