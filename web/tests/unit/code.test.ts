import { EditorState } from '@codemirror/state';
import { describe, expect, it } from 'vitest';

import type { CodeText } from '$lib/api/types';
import { CodeLink } from '$lib/code/link.svelte';
import { assemble, linesOf, samePart, tints } from '$lib/code/listing';
import { lineNow, lineSubmitted, sinceSubmitted } from '$lib/editor/since';
import { TINTS } from '$lib/editor/tints';

const CODE: CodeText = {
	parts: [
		{
			kind: 'kernel',
			name: 'add<256>',
			text: '{\nld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd2], %f1;\n}',
			source_lines: [null, 4, 4, null]
		},
		{ kind: 'function', name: 'f', text: 'ret;', source_lines: [2] },
		{ kind: 'module', name: '', text: '.version 9.5', source_lines: [null] }
	],
	lines_left_out: 0
};

describe('a listing', () => {
	it('shows one part, or all with a blank line between two', () => {
		expect(assemble(CODE, 1)).toEqual({ text: 'ret;', sourceLines: [2] });
		const all = assemble(CODE, null);
		expect(all.text.split('\n')).toHaveLength(all.sourceLines.length);
		expect(all.text.split('\n')[5]).toBe('ret;');
		expect(all.sourceLines).toEqual([null, 4, 4, null, null, 2, null, null]);
		expect(assemble(CODE, 9)).toEqual({ text: '', sourceLines: [] });
	});

	it('has a place for every line, whatever the service answered', () => {
		const parts = CODE.parts.map((part) => ({ ...part, source_lines: [7] }));
		const short = { ...CODE, parts };
		expect(assemble(short, 0).sourceLines).toEqual([7, null, null, null]);
	});

	it('keeps the part when the form changes, by its name', () => {
		const sass = { parts: CODE.parts.slice(0, 2).reverse(), lines_left_out: 0 };
		expect(samePart(CODE, 0, sass)).toBe(1);
		expect(samePart(CODE, 1, sass)).toBe(0);
		expect(samePart(CODE, 2, sass)).toBe(0);
		expect(samePart(CODE, null, sass)).toBe(null);
		expect(samePart(CODE, 1, null)).toBe(0);
		expect(samePart(null, null, CODE)).toBe(0);
	});

	it('finds the lines that were made from one of the source', () => {
		const { sourceLines } = assemble(CODE, 0);
		expect(linesOf(sourceLines, 4)).toEqual([2, 3]);
		expect(linesOf(sourceLines, 5)).toEqual([]);
		expect(linesOf(sourceLines, null)).toEqual([]);
	});

	it('colours neighbouring source lines differently, in whatever order their code comes', () => {
		const lines = Array.from({ length: 20 }, (_, n) => 20 - n);
		const colours = tints([...lines, null, 3]);
		expect(colours.size).toBe(20);
		for (let line = 1; line < 20; line += 1) {
			expect(colours.get(line)).not.toBe(colours.get(line + 1));
		}
		expect(Math.max(...colours.values())).toBe(TINTS - 1);
	});
});

describe('what editor and code tell each other', () => {
	it('is nothing while no code is shown', () => {
		const link = new CodeLink();
		link.point('source', 3, true);
		expect([link.line, link.reveal]).toEqual([null, null]);
	});

	it('moves the other side for a caret and not for a mouse', () => {
		const link = new CodeLink();
		link.show(new Map([[4, 0]]));
		link.point('code', 4, false);
		expect([link.line, link.reveal]).toEqual([4, null]);
		link.point('source', 4, true);
		expect(link.reveal).toEqual({ from: 'source', line: 4 });
		link.point('code', null, true);
		expect(link.line).toBeNull();
		link.clear();
		expect([link.tints.size, link.line, link.reveal]).toEqual([0, null, null]);
	});
});

describe('lines of the submitted text', () => {
	const submitted = (): EditorState =>
		EditorState.create({ doc: 'one\ntwo\nthree', extensions: [sinceSubmitted] });

	it('are where they were while nothing changes', () => {
		const state = submitted();
		expect([1, 2, 3].map((line) => lineNow(state, line))).toEqual([[1], [2], [3]]);
		expect([1, 2, 3].map((line) => lineSubmitted(state, line))).toEqual([1, 2, 3]);
		expect(lineNow(state, 4)).toEqual([]);
		expect(lineNow(state, 0)).toEqual([]);
	});

	it('move with what is typed above, and a new line is none of them', () => {
		const state = submitted().update({ changes: { from: 0, insert: 'new\n' } }).state;
		expect([1, 2, 3].map((line) => lineNow(state, line))).toEqual([[2], [3], [4]]);
		expect([1, 2, 3, 4].map((line) => lineSubmitted(state, line))).toEqual([null, 1, 2, 3]);
	});

	it('are gone when they are deleted', () => {
		const state = submitted().update({ changes: { from: 4, to: 8 } }).state;
		expect(lineNow(state, 2)).toEqual([]);
		expect(lineNow(state, 3)).toEqual([2]);
		expect(lineSubmitted(state, 2)).toBe(3);
	});
});
