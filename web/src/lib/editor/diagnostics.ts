// Where a diagnostic of the judge lies in the text of the editor.
//
// The judge counts lines from 1 and columns in bytes of UTF-8 from 1, over the text as submitted
// (with its byte-order mark and CRLF); the editor counts UTF-16 units from 0 over lines joined by LF.

import type { Text } from '@codemirror/state';

import type { Diagnostic } from '$lib/api/types';

export interface PlacedDiagnostic {
	from: number;
	to: number;
	severity: 'error' | 'warning' | 'info';
	stage: Diagnostic['stage'];
	message: string;
	hint: string | null;
}

/** Those diagnostics that name a line of `text`, in its order. Others are only listed. */
export function placeDiagnostics(
	text: Text,
	diagnostics: readonly Diagnostic[]
): PlacedDiagnostic[] {
	return diagnostics
		.flatMap((diagnostic) => {
			const range = rangeOf(text, diagnostic.line ?? null, diagnostic.column ?? null);
			if (range === null) return [];
			return [
				{
					...range,
					severity: diagnostic.severity === 'note' ? ('info' as const) : diagnostic.severity,
					stage: diagnostic.stage,
					message: diagnostic.message,
					hint: diagnostic.hint ?? null
				}
			];
		})
		.sort((a, b) => a.from - b.from);
}

/** The token at a place, or the line without its indentation when the column says nothing. */
export function rangeOf(
	text: Text,
	line: number | null,
	column: number | null
): { from: number; to: number } | null {
	if (line === null || line < 1 || text.lines === 0) return null;
	// "Expected } at end of file" points one line behind the last.
	const found = text.line(Math.min(line, text.lines));
	const indent = found.text.length - found.text.trimStart().length;
	const whole = { from: found.from + indent, to: found.to };
	if (line > text.lines || column === null || column < 1) return whole;
	const start = utf16Offset(found.text, column - 1);
	if (start >= found.text.length)
		return whole.from < whole.to ? { from: whole.to - 1, to: whole.to } : whole;
	const token = /^(?:[\p{L}_][\p{L}\p{N}_]*|\d[\p{L}\p{N}_.']*|<<<|>>>|\S)/u.exec(
		found.text.slice(start)
	);
	return { from: found.from + start, to: found.from + start + (token?.[0].length ?? 1) };
}

/** UTF-16 units that the first `byteCount` bytes of the line's UTF-8 take. */
export function utf16Offset(line: string, byteCount: number): number {
	let bytesLeft = byteCount;
	let units = 0;
	for (const character of line) {
		if (bytesLeft <= 0) break;
		bytesLeft -= utf8Length(character.codePointAt(0) ?? 0);
		units += character.length;
	}
	return bytesLeft > 0 ? line.length : units;
}

function utf8Length(codePoint: number): number {
	if (codePoint < 0x80) return 1;
	if (codePoint < 0x800) return 2;
	return codePoint < 0x10000 ? 3 : 4;
}
