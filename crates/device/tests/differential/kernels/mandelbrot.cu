// Iterations until escape, in float and in double, each operation rounded by itself.
extern "C" __global__ void mandelbrot(unsigned* out, int width, int height, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float cr = __fadd_rn(-2.0f, __fmul_rn(3.0f / 64, (float)x)), ci = __fadd_rn(-1.0f, __fmul_rn(2.0f / 32, (float)y));
    float zr = 0, zi = 0;
    int i = 0;
    for (; i < limit; i++) {
        float rr = __fmul_rn(zr, zr), ii = __fmul_rn(zi, zi);
        if (__fadd_rn(rr, ii) > 4) break;
        zi = __fadd_rn(__fmul_rn(2.0f, __fmul_rn(zr, zi)), ci);
        zr = __fadd_rn(__fsub_rn(rr, ii), cr);
    }
    double dr = 0, di = 0;
    int j = 0;
    for (; j < limit; j++) {
        double rr = __dmul_rn(dr, dr), ii = __dmul_rn(di, di);
        if (__dadd_rn(rr, ii) > 4) break;
        di = __dadd_rn(__dmul_rn(2.0, __dmul_rn(dr, di)), (double)ci);
        dr = __dadd_rn(__dsub_rn(rr, ii), (double)cr);
    }
    out[y * width + x] = i | j << 16;
}
