// Made-up compiled code of a source: a few instructions for each line inside its kernels.
//
// `// mock-code: 20000` makes a kernel of so many lines, `// mock-code: none` has no code, and
// `// mock-code: ptx` no machine code.

/** @returns the API's answer without the judging's id; `null` where there is none */
export function code(source) {
	const wanted = /\/\/ mock-code: (\w+)/.exec(source)?.[1] ?? '';
	if (wanted === 'none') return null;
	const kernels = kernelsOf(source);
	const repeat = Math.ceil((Number(wanted) || 0) / 5);
	const ptx = kernels.map((kernel) => part(kernel, repeat));
	const sass = kernels.map(machineCode);
	ptx.push({
		kind: 'module',
		name: '',
		text: '.version 9.5\n.target sm_90a\n.address_size 64',
		source_lines: [null, null, null]
	});
	return {
		arch: 'sm_90a',
		ptx: { parts: ptx, lines_left_out: repeat > 0 ? 1234 : 0 },
		sass: wanted === 'ptx' ? null : { parts: sass, lines_left_out: 0 },
		no_sass: wanted === 'ptx' ? 'disassembling took longer than 4 s' : null
	};
}

/** Name and numbered lines of each kernel. */
function kernelsOf(source) {
	const found = [];
	source.split('\n').forEach((text, index) => {
		const name = /__global__ void (\w+)/.exec(text)?.[1];
		if (name) found.push({ name, lines: [] });
		found.at(-1)?.lines.push({ line: index + 1, text });
		if (text.startsWith('}') || (name && text.endsWith('}'))) found.push({ name: null, lines: [] });
	});
	return found.filter((kernel) => kernel.name !== null);
}

function part({ name, lines }, repeat) {
	const rows = [
		[`.visible .entry ${name}(`, null],
		[')', null],
		['{', null]
	];
	rows.push(['    .reg .f32 %f<4>;', null]);
	for (let round = 0; round <= repeat; round += 1) {
		for (const { line, text } of lines) rows.push(...ptxOf(line, text));
	}
	rows.push(['}', null]);
	return {
		kind: 'kernel',
		name,
		text: rows.map(([row]) => row).join('\n'),
		source_lines: rows.map(([, line]) => line)
	};
}

function machineCode({ name, lines }) {
	const rows = [[`${name}:`, null]];
	for (const { line, text } of lines) {
		if (/threadIdx/.test(text)) rows.push(['    /*0000*/       S2R R0, SR_TID.X ;', line]);
		if (/\bif\b/.test(text)) rows.push(['    /*0010*/   @P0 EXIT ;', line]);
		if (/\w\[/.test(text)) rows.push(['    /*0020*/       FADD R9, R4, R2 ;', line]);
	}
	return {
		kind: 'kernel',
		name,
		text: rows.map(([row]) => row).join('\n'),
		source_lines: rows.map(([, line]) => line)
	};
}

function ptxOf(line, text) {
	const written = [];
	if (/threadIdx/.test(text))
		written.push('mov.u32 %r1, %tid.x;', 'mad.lo.s32 %r2, %r3, %r4, %r1;');
	if (/\bif\b/.test(text)) written.push('setp.ge.s32 %p1, %r2, %r5;', '@%p1 bra $L__BB0_2;');
	if (/\w\[/.test(text)) {
		written.push(
			'ld.global.f32 %f1, [%rd4];',
			'add.f32 %f3, %f1, %f2;',
			'st.global.f32 [%rd6], %f3;'
		);
	}
	return written.map((row) => [`    ${row}`, line]);
}
