// Philox 4x32-10 of a counter and a key, and MT19937 by a warp.
extern "C" __global__ void philox(unsigned* out, unsigned key_low, unsigned key_high) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, c[4] = {t, 0, 7, t * t};
    for (int round = 0; round < 10; round++) {
        unsigned high0 = __umulhi(0xD2511F53u, c[0]), low0 = 0xD2511F53u * c[0];
        unsigned high1 = __umulhi(0xCD9E8D57u, c[2]), low1 = 0xCD9E8D57u * c[2];
        c[0] = high1 ^ c[1] ^ key_low, c[1] = low1;
        c[2] = high0 ^ c[3] ^ key_high, c[3] = low0;
        key_low += 0x9E3779B9u, key_high += 0xBB67AE85u;
    }
    ((uint4*)out)[t] = make_uint4(c[0], c[1], c[2], c[3]);
}

extern "C" __global__ void mersenne_twister(unsigned* out, unsigned seed) {
    __shared__ unsigned state[624];
    int lane = threadIdx.x;
    if (lane == 0) {
        state[0] = seed;
        for (int i = 1; i < 624; i++) state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
    }
    __syncwarp();
    // A step reads a word that was already changed only 227 words before, and the next one before it changes.
    for (int begin = 0; begin < 624; begin += 32) {
        int i = begin + lane;
        unsigned next = 0;
        if (i < 624) {
            unsigned mixed = (state[i] & 0x80000000u) | (state[(i + 1) % 624] & 0x7fffffffu);
            next = state[(i + 397) % 624] ^ mixed >> 1 ^ (mixed & 1 ? 0x9908b0dfu : 0);
        }
        __syncwarp();
        if (i < 624) state[i] = next;
        __syncwarp();
    }
    for (int i = lane; i < 624; i += 32) {
        unsigned y = state[i];
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c5680u;
        y ^= y << 15 & 0xefc60000u;
        out[i] = y ^ y >> 18;
    }
}
