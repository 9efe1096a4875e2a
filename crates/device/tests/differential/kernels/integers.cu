// Bits, bytes and wide divisions.
extern "C" __global__ void bit_tricks(const unsigned* in, unsigned* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[2 * i], b = in[2 * i + 1];
    unsigned long long wide = (unsigned long long)a << 32 | b;
    unsigned found = __popc(a) + 33 * __clz(b) + 1000 * __ffs(a & b) + __popcll(wide) * 7 + __clzll(wide >> (a & 63));
    found ^= __brev(a) + (unsigned)(__brevll(wide) >> 17);
    found ^= __funnelshift_l(a, b, i) * 3 + __funnelshift_rc(a, b, i & 63) * 5;
    found += __byte_perm(a, b, 0x3715) ^ __byte_perm(b, a, i * 0x1111);
    found += __umulhi(a, b) ^ (unsigned)__mulhi((int)a, (int)b) ^ (unsigned)__umul64hi(wide, ~wide);
    found ^= __usad(a, b, 9) + (unsigned)__hadd((int)a, (int)b) + __urhadd(a, b) + (unsigned)__ffsll(wide);
    found += __vadd4(a, b) ^ __vabsdiffu4(a, b) ^ __vmaxs2(a, b) ^ __vcmpgtu4(a, b);
    found ^= __vsadu4(a, b) + __vaddss2(a, b) * 3 + __vimax3_s16x2(a, b, found) * 5 + __vabsdiffs2(a, b) * 7;
    found += (unsigned)__viaddmax_s32_relu((int)a, (int)b, (int)found) ^ __viaddmin_u16x2(a, b, found);
    out[i] = found;
}

extern "C" __global__ void divisions(const long long* a, const long long* b, long long* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long x = a[i], y = b[i];
    unsigned long long ux = x, uy = y;
    out[6 * i] = x / y;
    out[6 * i + 1] = x % y;
    out[6 * i + 2] = ux / uy;
    out[6 * i + 3] = ux % uy;
    out[6 * i + 4] = x / 1000003 + x % 1000003 * 2;
    out[6 * i + 5] = (int)x / (int)(y | 1) + (long long)((unsigned)ux % (unsigned)(uy | 1)) * 3;
}

// Sums of products of bytes, four at a time.
extern "C" __global__ void byte_products(const int* a, const int* b, int* out, int words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    unsigned u = 0;
    for (int w = 0; w < words; w++) {
        s = __dp4a(a[i * words + w], b[i * words + w], s);
        u = __dp4a((unsigned)a[i * words + w], (unsigned)b[i * words + w], u);
    }
    s = __dp2a_lo(s, a[i], s);
    out[2 * i] = s;
    out[2 * i + 1] = (int)u;
}
