// Carries positions of the text that was submitted over to the text as it is edited meanwhile.

import { type ChangeSet, type EditorState, StateEffect, StateField, Text } from '@codemirror/state';

/** Says that the document, as it is now, is what the judge speaks about. */
export const markSubmitted = StateEffect.define<null>();

interface Since {
	submitted: Text;
	/** `null` while nothing has changed. */
	changes: ChangeSet | null;
}

export const sinceSubmitted = StateField.define<Since>({
	create: (state) => ({ submitted: state.doc, changes: null }),
	update(value, transaction) {
		if (transaction.effects.some((effect) => effect.is(markSubmitted))) {
			return { submitted: transaction.newDoc, changes: null };
		}
		if (!transaction.docChanged) return value;
		const changes = value.changes?.compose(transaction.changes) ?? transaction.changes;
		return { ...value, changes };
	}
});

/** A range of the submitted text in today's document; `null` when it was deleted since. */
export function carry(
	since: Since,
	range: { from: number; to: number }
): { from: number; to: number } | null {
	if (since.changes === null) return range;
	const from = since.changes.mapPos(range.from, 1);
	const to = since.changes.mapPos(range.to, -1);
	return to > from || range.from === range.to ? { from, to: Math.max(from, to) } : null;
}

/** Where a line of the submitted text (from 1) is now; empty when it is gone. */
export function lineNow(state: EditorState, line: number): number[] {
	const since = state.field(sinceSubmitted);
	if (line < 1 || line > since.submitted.lines) return [];
	const range = carry(since, since.submitted.line(line));
	return range === null ? [] : [state.doc.lineAt(range.from).number];
}

/** Which line of the submitted text (from 1) a line is; `null` for one that is newer. */
export function lineSubmitted(state: EditorState, line: number): number | null {
	const since = state.field(sinceSubmitted);
	const { from } = state.doc.line(line);
	const before = since.changes?.invertedDesc.mapPos(from, 1) ?? from;
	const submitted = since.submitted.lineAt(before).number;
	return lineNow(state, submitted)[0] === line ? submitted : null;
}
