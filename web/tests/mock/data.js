// Made-up answers of the API for page tests and pictures: plausible, fixed, and hostile where a page
// must show text as text.

const LISTED = [
	[
		'vector_add',
		'Vector addition',
		'向量加法',
		'lesson',
		'easy',
		['elementwise', 'first-kernel'],
		12
	],
	[
		'matrix_transpose',
		'Matrix transpose',
		'矩阵转置',
		'lesson',
		'easy',
		['shared-memory', 'coalescing'],
		7
	],
	['reduction', 'Sum reduction', '求和归约', 'lesson', 'medium', ['reduction', 'warp-shuffle'], 5],
	['softmax_1d', 'Softmax', 'Softmax', 'lesson', 'medium', ['reduction', 'numerics'], 3],
	['matmul', 'Matrix multiplication', '矩阵乘法', 'lesson', 'medium', ['gemm', 'tiling'], 4],
	[
		'fused_add_rms_norm',
		'Fused residual add and RMS norm',
		'残差相加与 RMS 归一化融合',
		'workload',
		'hard',
		['llm', 'normalization', 'bf16'],
		1
	]
];

export const DEVICES = ['emulated', 't4', 'a100-80gb', 'h100-sxm', 'h200', 'b200'];

export const summaries = LISTED.map(([slug, en, zh, kind, difficulty, tags, solvers]) => ({
	slug,
	version: 1,
	kind,
	title: { en, zh },
	difficulty,
	tags,
	bound: slug === 'matmul' ? 'compute' : 'memory',
	devices: DEVICES,
	solvers,
	solved: slug === 'vector_add' || slug === 'reduction'
}));

export const devices = DEVICES.map((name) => ({
	name,
	kind: name === 'emulated' ? 'emulated' : 'gpu',
	live_workers: name === 'emulated' ? 1 : 0,
	queued: 0
}));

export const STARTER = `#include <cuda_runtime.h>

__global__ void vector_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Your part: one element a thread.
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int threads = 256;
    int blocks = (N + threads - 1) / threads;
    vector_add<<<blocks, threads>>>(A, B, C, N);
}
`;

const STATEMENT_EN = `Given two vectors $A$ and $B$ of $N$ single-precision numbers, write their sum

$$C_i = A_i + B_i, \\qquad 0 \\le i < N$$

to \`C\`. All three are **device pointers**; \`N\` is any positive number, not only a multiple of your block.

$$\\mathrm{traffic} = \\frac{\\sum_{i=0}^{N-1} (\\mathrm{bytes}(A_i) + \\mathrm{bytes}(B_i) + \\mathrm{bytes}(C_i))}{32 \\cdot (\\mathrm{load\\ sectors} + \\mathrm{store\\ sectors})} \\le 1$$

## What to look at

- Every byte must move once: $12N$ bytes for $N$ additions, so the intensity is
  $\\tfrac{1}{12}\\,\\mathrm{FLOP/byte}$, far below the ridge.
- Neighbouring threads should touch neighbouring addresses.

\`\`\`cpp
int i = blockIdx.x * blockDim.x + threadIdx.x;
\`\`\`

| N | why it is here |
| --- | --- |
| 1 | the smallest |
| 4097 | one more than whole blocks |

<script>document.title = 'owned'</script> [a bad link](javascript:alert(1))
`;

const STATEMENT_ZH = `给定两个各含 $N$ 个单精度数的向量 $A$ 与 $B$，把它们的和

$$C_i = A_i + B_i, \\qquad 0 \\le i < N$$

写入 \`C\`。三者都是**设备指针**；\`N\` 可以是任意正整数，不一定是线程块大小的倍数。

## 值得注意

- 每个字节必须搬运一次：$N$ 次加法对应 $12N$ 字节，算术强度为
  $\\tfrac{1}{12}\\,\\mathrm{FLOP/byte}$，远低于屋脊点。
- 相邻线程应访问相邻地址。
`;

export function detail(slug) {
	const summary = summaries.find((problem) => problem.slug === slug);
	if (!summary) return null;
	return {
		...summary,
		statement: { en: STATEMENT_EN, zh: STATEMENT_ZH },
		declaration: 'void solve(const float* A, const float* B, float* C, int N)',
		parameters: [
			tensor('A', 'const float*', 'in', 'normal(0, 1), outliers'),
			tensor('B', 'const float*', 'in', 'normal(0, 1), outliers'),
			tensor('C', 'float*', 'out', null),
			{
				name: 'N',
				c_type: 'int',
				element: 'i32',
				direction: null,
				shape: null,
				value: 'N',
				generator: null
			}
		],
		axes: [
			{ name: 'N', kind: 'var', value: null, min: 1, max: 268435456, align: 1, expression: null }
		],
		strata: [
			stratum('small', 'Activations of one layer', 1048576, 524288, 2097152, 0.2),
			stratum('medium', 'Gradient bucket', 16777216, 8388608, 33554432, 0.5),
			stratum('large', 'Optimizer state', 268435456, 134217728, 268435456, 0.3)
		],
		edge_shapes: [1, 31, 4097].map((N) => ({ id: `edge_${N}`, stratum: null, axes: { N } })),
		emulated_shapes: [
			{ id: 'e_small', stratum: 'small', axes: { N: 4096 } },
			{ id: 'e_medium', stratum: 'medium', axes: { N: 65536 } },
			{ id: 'e_large', stratum: 'large', axes: { N: 262147 } }
		],
		cost: { flop: { fp32: 'N' }, fused_bytes: null },
		limits: {
			compile_s: 10,
			run_s: 20,
			memory_bytes: 4294967296,
			scratch_bytes: 268435456,
			emulated_warp_instructions: 25000000,
			forbidden_pipes: []
		},
		constraints: ['N >= 1'],
		hints: [
			{ en: 'One thread an element: `i < N`.', zh: '每个线程处理一个元素：`i < N`。' },
			{ en: 'Read four at a time with `float4`.', zh: '用 `float4` 一次读四个。' }
		],
		provenance: { text: 'Sizes chosen for the lesson.', licence: 'CC0-1.0' },
		starter: STARTER
	};
}

function tensor(name, c_type, direction, generator) {
	return {
		name,
		about: null,
		c_type,
		element: 'f32',
		direction,
		shape: ['N'],
		value: null,
		generator,
		tolerance: direction === 'out' ? '1 · sqrt(2) · eps(f32) · S + ulp/2' : null
	};
}

function stratum(id, label, N, lo, hi, w) {
	return {
		id,
		label,
		axes: { N },
		drawn: { N: { public: N, lo, hi, align: 1 } },
		calls: w,
		time: w,
		w,
		basis: 'spec',
		source: null,
		limit: {
			device: 'h200',
			flop: N,
			fused_bytes: 12 * N,
			t_compute_s: N / 67e12,
			t_memory_s: (12 * N) / 4.8e12,
			t_sol_s: (12 * N) / 4.8e12,
			bound: 'memory'
		}
	};
}

const COUNTERS = {
	warp_instructions: 45056,
	thread_instructions: 1441792,
	global_requests: 6144,
	global_load_sectors: 16384,
	global_store_sectors: 8192,
	shared_requests: 0,
	shared_wavefronts: 0,
	barriers: 0,
	atomics: 0,
	divergent_branches: 1,
	flop: { f32: 65536 }
};

function modelled(t_s, sol) {
	return {
		t_s,
		sol,
		limit: 'launch',
		terms: [
			{ term: 'launch', t_s: 6e-7 },
			{ term: 'latency', t_s: 4.2e-7 },
			{ term: 'dram', t_s: 1.8e-7 }
		],
		incomplete: null
	};
}

function shape(id, role, N, extra = {}) {
	return {
		id,
		stratum: role === 'edge' ? null : id.replace('e_', ''),
		role,
		axes: { N },
		w: role === 'edge' ? null : 1 / 3,
		verdict: 'accepted',
		kind: null,
		message: null,
		mismatches: [],
		launches: 1,
		flop: N,
		fused_bytes: 12 * N,
		t_s: null,
		t_sol_s: (12 * N) / 4.8e12,
		bound: 'memory',
		sol: null,
		traffic_efficiency: role === 'edge' ? 0.031 : 0.742,
		modelled: modelled(1.1e-6, 0.742),
		counters: COUNTERS,
		...extra
	};
}

const SHAPES = [
	shape('edge_1', 'edge', 1),
	shape('edge_31', 'edge', 31),
	shape('edge_4097', 'edge', 4097),
	shape('e_small', 'emulated', 4096, { modelled: modelled(6.2e-7, 1) }),
	shape('e_medium', 'emulated', 65536),
	shape('e_large', 'emulated', 262147, { modelled: modelled(1.2e-6, 0.55) })
];

function base(mode, source_sha256) {
	return {
		schema: 'lightspeed.report/1',
		problem: { slug: 'vector_add', version: 1 },
		device: { name: 'emulated', kind: 'emulated', arch: 'sm_90a', profile: null },
		mode,
		source_sha256,
		toolchain: {
			nvrtc: '13.5.37',
			cupti: null,
			options: ['--std=c++17', '--gpu-architecture=sm_90a']
		},
		execution: 'planned',
		kernels: [
			{
				name: 'vector_add',
				registers: 16,
				spill_bytes: 0,
				static_smem_bytes: 0,
				dynamic_smem_bytes: 0,
				constant_bytes: 0,
				local_bytes: 0,
				barriers: 0,
				block_threads: 256,
				occupancy: 1,
				occupancy_limiter: null
			}
		],
		diagnostics: [],
		score: null,
		phases_s: {
			queue: 0.004,
			plan: 0.0021,
			compile: 0.058,
			execute: 0.212,
			check: 0.094,
			overhead: 0.031,
			total: 0.4011
		},
		printed: null,
		warnings: [],
		started_at: '2026-03-01T10:00:00Z',
		finished_at: '2026-03-01T10:00:00.401Z'
	};
}

/** Reports by the verdict that a line `// mock: <verdict>` in the source asks for. */
export function report(verdict, mode, sha) {
	const common = base(mode, sha);
	switch (verdict) {
		case 'wrong_answer':
			return {
				...common,
				verdict,
				kind: null,
				printed: 'thread 0: <b>A[0]</b> = 0.25\n',
				message: '1 of 6 shapes differs from the reference: edge_4097, output C.',
				shapes: SHAPES.map((row) =>
					row.id === 'edge_4097'
						? {
								...row,
								verdict,
								message: 'The last element was never written.',
								mismatches: [MISMATCH]
							}
						: row
				)
			};
		case 'compile_error':
			return {
				...common,
				verdict,
				kind: 'diagnostics',
				message: 'The device code does not compile: 1 error, 1 warning.',
				kernels: [],
				shapes: [],
				phases_s: { ...common.phases_s, execute: null, check: null, total: 0.071 },
				diagnostics: [
					{
						stage: 'compile',
						severity: 'error',
						line: 4,
						column: 13,
						message: 'identifier "blockIdxx" is undefined',
						hint: 'did you mean blockIdx?'
					},
					{
						stage: 'compile',
						severity: 'warning',
						line: 5,
						column: null,
						message: 'variable "i" was declared but never referenced <img src=x onerror=alert(1)>',
						hint: null
					}
				]
			};
		case 'plan_error':
			return {
				...common,
				verdict,
				kind: 'unsupported_construct',
				message:
					'The host function calls printf: host input and output are not part of the subset.',
				kernels: [],
				shapes: [],
				phases_s: { ...common.phases_s, compile: null, execute: null, check: null, total: 0.012 },
				diagnostics: [
					{
						stage: 'plan',
						severity: 'error',
						line: 9,
						column: 5,
						message: 'host function `solve` calls printf',
						hint: 'print from a kernel in a practice run'
					}
				]
			};
		case 'judge_error':
		case 'cancelled':
			return null;
		default:
			return {
				...common,
				verdict: 'accepted',
				kind: null,
				message: 'All 6 shapes are correct.',
				shapes: SHAPES,
				score: {
					metric: 'modelled_sol',
					value: 0.7416,
					strict_sol: null,
					worst_shape: 'e_large',
					scoring_version: 1
				},
				warnings: [
					'cudaDeviceSynchronize is ordering only: the judge runs the launch plan, not host code.'
				]
			};
	}
}

const MISMATCH = {
	output: 'C',
	count: 2,
	elements: 4097,
	nan: 1,
	inf: 0,
	unwritten: 1,
	likely_cause: 'output_not_set',
	max_abs_error: 0.18712344765663147,
	max_rel_error: 1.0000000000000002,
	// Numbers come with every digit that a double has.
	first: [
		{ index: [4096], expected: '-1.2853394', actual: 'NaN', tolerance: '1.4e-7' },
		{
			index: [17, 1023, 4095],
			expected: '-0.18712344765663147',
			actual: '-1.8712344765663147e-17',
			tolerance: '2.1457672119140625e-06'
		}
	]
};

export function board(slug, device, empty) {
	const names = ['mira', 'warp32', '<b>bold</b>', 'local', 'coalesced_carl'];
	const values = [0.991, 0.968, 0.968, 0.742, 0.31];
	const ranks = [1, 2, 2, 4, 5];
	const entries = names.map((name, index) => ({
		rank: ranks[index],
		user: { user_id: `0190b5a0-0000-7000-8000-00000000000${index}`, name },
		submission_id: `0190b5a0-0000-7000-8000-0000000001${index}0`,
		judging_id: `0190b5a0-0000-7000-8000-0000000002${index}0`,
		value: values[index],
		strict_sol: null,
		worst_shape: 'e_large',
		judged_at: new Date(Date.UTC(2026, 1, 27 - index, 9, 30)).toISOString()
	}));
	return {
		problem: { slug, version: 1 },
		device,
		device_kind: device === 'emulated' ? 'emulated' : 'gpu',
		metric: device === 'emulated' ? 'modelled_sol' : 'sol',
		total: empty ? 0 : entries.length,
		entries: empty ? [] : entries,
		yours: empty ? null : entries[3]
	};
}

export const ACCOUNT = {
	user_id: '0190b5a0-0000-7000-8000-000000000003',
	name: 'local',
	operator: true
};
