// What CUDA adds to C++ for highlighting and completion. The grammar is C++'s; words of CUDA are
// marked over it, outside comments and strings.

import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { cpp, cppLanguage } from '@codemirror/lang-cpp';
import { LanguageSupport, syntaxTree } from '@codemirror/language';
import { type Extension, RangeSetBuilder } from '@codemirror/state';
import {
	Decoration,
	type DecorationSet,
	type EditorView,
	ViewPlugin,
	type ViewUpdate
} from '@codemirror/view';

const QUALIFIERS = [
	...['__global__', '__device__', '__host__', '__shared__', '__constant__', '__managed__'],
	...['__restrict__', '__launch_bounds__', '__forceinline__', '__noinline__', '__grid_constant__'],
	...['__cluster_dims__', '__align__']
];
const VARIABLES = ['threadIdx', 'blockIdx', 'blockDim', 'gridDim', 'warpSize'];
const TYPES = [
	...['dim3', 'float2', 'float3', 'float4', 'double2', 'int2', 'int3', 'int4', 'uint2', 'uint4'],
	...['half', 'half2', '__half', '__half2', '__nv_bfloat16', '__nv_bfloat162', 'nv_bfloat16'],
	...['__nv_fp8_e4m3', '__nv_fp8_e5m2', 'cudaError_t', 'cudaStream_t', 'cudaEvent_t', 'size_t'],
	...['int8_t', 'uint8_t', 'int16_t', 'uint16_t', 'int32_t', 'uint32_t', 'int64_t', 'uint64_t']
];
const FUNCTIONS = [
	...['__syncthreads', '__syncwarp', '__threadfence', '__threadfence_block', '__ldg', '__ldcs'],
	...['__stcs', '__shfl_sync', '__shfl_up_sync', '__shfl_down_sync', '__shfl_xor_sync'],
	...['__ballot_sync', '__any_sync', '__all_sync', '__activemask', '__reduce_add_sync'],
	...['atomicAdd', 'atomicSub', 'atomicMax', 'atomicMin', 'atomicExch', 'atomicCAS', 'atomicOr'],
	...['rsqrtf', 'sqrtf', 'expf', 'exp2f', 'logf', 'fmaxf', 'fminf', 'fmaf', '__expf', '__fdividef'],
	...['__float2half', '__half2float', '__float2bfloat16', '__bfloat162float', '__popc', '__clz'],
	...['cudaDeviceSynchronize', 'cudaMalloc', 'cudaFree', 'cudaMemset', 'cudaMemcpy'],
	...['cudaMemcpyAsync', 'cudaMemsetAsync', 'cudaFuncSetAttribute', 'cudaGetLastError']
];

/** Class of each CUDA word; the theme colours the classes. */
const CLASS_OF = new Map<string, string>([
	...QUALIFIERS.map((word): [string, string] => [word, 'cu-qualifier']),
	...VARIABLES.map((word): [string, string] => [word, 'cu-variable']),
	...TYPES.map((word): [string, string] => [word, 'cu-type']),
	...FUNCTIONS.map((word): [string, string] => [word, 'cu-function'])
]);

const MARKS = new Map(
	[...new Set(CLASS_OF.values())].map((name) => [name, Decoration.mark({ class: name })])
);

const COMPLETIONS: readonly Completion[] = [
	...QUALIFIERS.map((label): Completion => ({ label, type: 'keyword' })),
	...VARIABLES.map((label): Completion => ({ label, type: 'variable' })),
	...TYPES.map((label): Completion => ({ label, type: 'type' })),
	...FUNCTIONS.map((label): Completion => ({ label, type: 'function' }))
];

/** C++ with CUDA's words. */
export function cuda(): Extension {
	return [
		new LanguageSupport(cppLanguage, cpp().support),
		cppLanguage.data.of({ autocomplete: completeCuda }),
		cudaWords
	];
}

function completeCuda(context: CompletionContext): CompletionResult | null {
	const word = context.matchBefore(/[A-Za-z_]\w*/);
	if (word === null || (word.text.length < 2 && !context.explicit)) return null;
	const inside = syntaxTree(context.state).resolveInner(context.pos, -1).name;
	if (isText(inside)) return null;
	return { from: word.from, options: [...COMPLETIONS], validFor: /^\w*$/ };
}

const cudaWords = ViewPlugin.fromClass(
	class {
		decorations: DecorationSet;

		constructor(view: EditorView) {
			this.decorations = markWords(view);
		}

		update(update: ViewUpdate): void {
			const parsedFurther = syntaxTree(update.startState) !== syntaxTree(update.state);
			if (update.docChanged || update.viewportChanged || parsedFurther) {
				this.decorations = markWords(update.view);
			}
		}
	},
	{ decorations: (plugin) => plugin.decorations }
);

function markWords(view: EditorView): DecorationSet {
	const builder = new RangeSetBuilder<Decoration>();
	const tree = syntaxTree(view.state);
	for (const { from, to } of view.visibleRanges) {
		const text = view.state.doc.sliceString(from, to);
		for (const match of text.matchAll(/<<<|>>>|[A-Za-z_]\w*/g)) {
			const name =
				match[0].length === 3 && /[<>]/.test(match[0]) ? 'cu-launch' : CLASS_OF.get(match[0]);
			if (name === undefined) continue;
			const start = from + match.index;
			if (isText(tree.resolveInner(start, 1).name)) continue;
			const mark = name === 'cu-launch' ? LAUNCH : MARKS.get(name);
			if (mark !== undefined) builder.add(start, start + match[0].length, mark);
		}
	}
	return builder.finish();
}

const LAUNCH = Decoration.mark({ class: 'cu-launch' });

function isText(nodeName: string): boolean {
	return /Comment|String|CharLiteral/.test(nodeName);
}
