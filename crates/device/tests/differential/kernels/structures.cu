// A struct of mixed sizes by value, threads' own arrays under indices known only at run time, and bits of one
// type read as another.
struct Mixed {
    char letter;
    double scale;
    short offsets[3];
    bool negate;
    unsigned long long base;
    float2 pair;
    uchar4 bytes;
};

extern "C" __global__ void structure_by_value(const int* in, double* out, Mixed m, short bias) {
    int i = threadIdx.x;
    double value = m.scale * in[i] + m.offsets[i % 3] + bias + m.letter + (double)m.base;
    value += m.pair.x - m.pair.y;
    value += m.bytes.x + m.bytes.y * 256 + m.bytes.z * 65536 + m.bytes.w;
    out[i] = m.negate && i % 2 ? -value : value;
}

// Each thread sorts eight numbers of its own by insertion, and follows the permutation.
extern "C" __global__ void local_arrays(const unsigned* in, unsigned* out) {
    unsigned keys[8], from[8];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 8; i++) {
        unsigned key = in[8 * t + i];
        int j = i;
        for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1], from[j] = from[j - 1];
        keys[j] = key;
        from[j] = i;
    }
    for (int i = 0; i < 8; i++) out[8 * t + i] = keys[from[i]] ^ (keys[i] + from[keys[i] & 7]);
}

union Word {
    float number;
    unsigned bits;
    unsigned short halves[2];
    unsigned char bytes[4];
};

extern "C" __global__ void bit_casts(const float* in, unsigned* out) {
    int i = threadIdx.x;
    Word w;
    w.number = in[i];
    int exponent = (int)((w.bits >> 23) & 255) - 127;
    unsigned mixed = w.bytes[i & 3] | w.halves[i & 1] << 8;
    unsigned long long wide = __double_as_longlong((double)in[i]);
    out[i] = (unsigned)exponent * 0x01000193u ^ mixed ^ (unsigned)(wide >> 32) ^ (unsigned)__float_as_int(-in[i]);
}
