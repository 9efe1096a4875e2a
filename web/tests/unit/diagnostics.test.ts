import { EditorState, Text } from '@codemirror/state';
import { describe, expect, it } from 'vitest';

import type { Diagnostic } from '$lib/api/types';
import { placeDiagnostics, rangeOf, utf16Offset } from '$lib/editor/diagnostics';
import { carry, markSubmitted, sinceSubmitted } from '$lib/editor/since';

const SOURCE = [
	'__global__ void k(int n) {',
	'    int 变量 = blockIdxx.x;',
	'    k<<<1, 2>>>(n);',
	'}'
];
const TEXT = Text.of(SOURCE);
const at = (line: number | null, column: number | null): string | null => {
	const range = rangeOf(TEXT, line, column);
	return range === null ? null : TEXT.sliceString(range.from, range.to);
};

describe('places of diagnostics', () => {
	it('counts columns in bytes and marks the token there', () => {
		expect(at(1, 12)).toBe('void');
		// Two Chinese characters take six bytes.
		expect(at(2, 18)).toBe('blockIdxx');
		expect(at(3, 6)).toBe('<<<');
	});

	it('marks the line without its indentation when there is no column', () => {
		expect(at(2, null)).toBe('int 变量 = blockIdxx.x;');
		expect(at(2, 0)).toBe('int 变量 = blockIdxx.x;');
	});

	it('stays inside the text whatever the judge says', () => {
		expect(at(2, 900)).toBe(';');
		expect(at(99, 1)).toBe('}');
		expect(at(0, 1)).toBeNull();
		expect(at(null, null)).toBeNull();
		expect(rangeOf(Text.of(['']), 1, 1)).toEqual({ from: 0, to: 0 });
	});

	it('turns byte counts into UTF-16 units', () => {
		expect(utf16Offset('abc', 2)).toBe(2);
		expect(utf16Offset('é=1', 2)).toBe(1);
		expect(utf16Offset('𝛼x', 4)).toBe(2);
		expect(utf16Offset('ab', 9)).toBe(2);
	});

	it('keeps placed ones in the order of the text and drops placeless ones', () => {
		const diagnostic = (line: number | null, severity: Diagnostic['severity']): Diagnostic => ({
			stage: 'compile',
			severity,
			line,
			column: null,
			message: `about ${line}`,
			hint: null
		});
		const placed = placeDiagnostics(TEXT, [
			diagnostic(3, 'error'),
			diagnostic(null, 'warning'),
			diagnostic(1, 'note')
		]);
		expect(placed.map((one) => [one.message, one.severity])).toEqual([
			['about 1', 'info'],
			['about 3', 'error']
		]);
	});
});

describe('text edited while it is judged', () => {
	const start = EditorState.create({ doc: TEXT, extensions: [sinceSubmitted] });
	const submitted = start.update({ effects: markSubmitted.of(null) }).state;
	const range = rangeOf(TEXT, 2, 18) ?? { from: 0, to: 0 };

	it('carries a place along with what was typed before it', () => {
		const edited = submitted.update({ changes: { from: 0, insert: '// a\n// b\n' } }).state;
		const moved = carry(edited.field(sinceSubmitted), range);
		expect(moved).not.toBeNull();
		if (moved) expect(edited.doc.sliceString(moved.from, moved.to)).toBe('blockIdxx');
	});

	it('drops a place whose text is gone', () => {
		const edited = submitted.update({ changes: { from: 20, to: TEXT.length } }).state;
		expect(carry(edited.field(sinceSubmitted), range)).toBeNull();
	});

	it('begins anew at the next submission', () => {
		const edited = submitted.update({ changes: { from: 0, insert: 'xx' } }).state;
		const again = edited.update({ effects: markSubmitted.of(null) }).state;
		expect(carry(again.field(sinceSubmitted), range)).toEqual(range);
		expect(again.field(sinceSubmitted).submitted.toString()).toBe(again.doc.toString());
	});
});
