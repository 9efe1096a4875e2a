// Compiled code as the page shows it: parts put together, and which lines belong to which line of the source.

import type { CodeText } from '$lib/api/types';
import { TINTS } from '$lib/editor/tints';

/** PTX and machine code, by their fields in the API's answer. */
export const FORMS = ['ptx', 'sass'] as const;
export type Form = (typeof FORMS)[number];

export interface Shown {
	text: string;
	/** For each line of the text, the line of the source that it was made from. */
	sourceLines: readonly (number | null)[];
}

/** The part of this place, or all of them with a blank line between two. */
export function assemble(code: CodeText, index: number | null): Shown {
	const parts = index === null ? code.parts : code.parts.slice(index, index + 1);
	const sourceLines: (number | null)[] = [];
	const texts = parts.map((part, place) => {
		if (place > 0) sourceLines.push(null);
		const lines = part.text.split('\n');
		lines.forEach((_, line) => sourceLines.push(part.source_lines[line] ?? null));
		return part.text;
	});
	return { text: texts.join('\n\n'), sourceLines };
}

/** Where the part of one form stands in the other; its first part where it has none of that name. */
export function samePart(
	from: CodeText | null,
	index: number | null,
	to: CodeText | null
): number | null {
	const part = from === null || index === null ? undefined : from.parts[index];
	if (part === undefined) return from !== null && index === null ? null : 0;
	const place = to?.parts.findIndex(({ kind, name }) => kind === part.kind && name === part.name);
	return Math.max(place ?? 0, 0);
}

/** A colour for each source line that has code, so that one and the next never share theirs. */
export function tints(sourceLines: readonly (number | null)[]): ReadonlyMap<number, number> {
	const lines = [...new Set(sourceLines)].filter((line) => line !== null).sort((a, b) => a - b);
	return new Map(lines.map((line, place) => [line, place % TINTS]));
}

/** Lines of the text (from 1) that were made from a line of the source. */
export function linesOf(sourceLines: readonly (number | null)[], source: number | null): number[] {
	if (source === null) return [];
	return sourceLines.flatMap((line, index) => (line === source ? [index + 1] : []));
}
