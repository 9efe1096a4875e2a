// Functions through pointers in a table, and virtual functions of objects that the device makes.
using Operation = int (*)(int, int);
__device__ int sum(int a, int b) { return a + b; }
__device__ int product(int a, int b) { return a * b; }
__device__ int difference(int a, int b) { return a - b; }
__device__ int mixture(int a, int b) { return (a ^ b) + (a & b) % 7; }
__device__ Operation operations[4] = {sum, product, difference, mixture};

extern "C" __global__ void function_pointers(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, value = in[i];
    for (int step = 0; step < 6; step++) value = operations[(i + step * 3 + value) & 3](value, i + step);
    out[i] = value;
}

struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual int twice() const { return 2 * area(); }
};
struct Square : Shape {
    int side;
    __device__ Square(int side) : side(side) {}
    __device__ int area() const override { return side * side; }
};
struct Rectangle : Shape {
    int width, height;
    __device__ Rectangle(int width, int height) : width(width), height(height) {}
    __device__ int area() const override { return width * height; }
    __device__ int twice() const override { return area() + height * width; }
};
struct Hole : Square {
    __device__ Hole(int side) : Square(side) {}
    __device__ int area() const override { return -side * side; }
};

extern "C" __global__ void virtual_calls(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = in[i];
    Square square(n);
    Rectangle rectangle(n, i);
    Hole hole(i % 5);
    const Shape* shapes[3] = {&square, &rectangle, &hole};
    int sum = 0;
    for (int at = 0; at < 3; at++) sum = sum * 3 + shapes[(at + n) % 3]->area() + shapes[(i + at) % 3]->twice();
    out[i] = sum;
}
