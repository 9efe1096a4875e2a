// Lines that belong to lines of another view: coloured, marked while the other is pointed at, and telling
// where they are pointed at themselves. Used by the editor and by the compiled code beside it.

import {
	type Extension,
	RangeSetBuilder,
	StateEffect,
	StateField,
	type Text
} from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';

/** Lines from 1. */
export interface Linked {
	/** Colour of each line that belongs to something. */
	tints: ReadonlyMap<number, number>;
	/** Lines that are pointed at from the other side. */
	marked: readonly number[];
}

const NONE: Linked = { tints: new Map(), marked: [] };

const setLinked = StateEffect.define<Linked>();

const decorations = StateField.define<DecorationSet>({
	create: () => Decoration.none,
	update(value, transaction) {
		const set = transaction.effects.findLast((effect) => effect.is(setLinked));
		if (set?.is(setLinked)) return decorate(transaction.newDoc, set.value);
		return value.map(transaction.changes);
	},
	provide: (field) => EditorView.decorations.from(field)
});

/** `onPoint` hears of the line (from 1) under the caret (`moves`) or the mouse; `null` when it leaves. */
export function linkedLines(
	onPoint: (line: number | null, moves: boolean, view: EditorView) => void
): Extension {
	let hovered: number | null = null;
	const hover = (line: number | null, view: EditorView): void => {
		if (line === hovered) return;
		hovered = line;
		onPoint(line, false, view);
	};
	return [
		decorations,
		EditorView.domEventHandlers({
			mousemove(event, view) {
				const position = view.posAtCoords({ x: event.clientX, y: event.clientY }, false);
				hover(view.state.doc.lineAt(position).number, view);
			},
			mouseleave: (_, view) => hover(null, view)
		}),
		EditorView.updateListener.of((update) => {
			// What a program selects is not pointed at.
			const byHand = update.transactions.some((transaction) => transaction.isUserEvent('select'));
			if (!update.selectionSet || !byHand) return;
			const line = update.state.doc.lineAt(update.state.selection.main.head).number;
			onPoint(line, true, update.view);
		})
	];
}

export function showLinked(view: EditorView, linked: Linked | null): void {
	view.dispatch({ effects: setLinked.of(linked ?? NONE) });
}

/** Scrolls a line into the view's own window, and nothing around it. */
export function scrollWithin(view: EditorView, line: number): void {
	if (line < 1 || line > view.state.doc.lines) return;
	const block = view.lineBlockAt(view.state.doc.line(line).from);
	const scroller = view.scrollDOM;
	const height = scroller.clientHeight;
	const isSeen = block.top >= scroller.scrollTop && block.bottom <= scroller.scrollTop + height;
	if (!isSeen) scroller.scrollTop = Math.max(0, block.top - height / 3);
}

function decorate(doc: Text, { tints, marked }: Linked): DecorationSet {
	const builder = new RangeSetBuilder<Decoration>();
	const lines = new Set([...tints.keys(), ...marked]);
	const isMarked = new Set(marked);
	for (const line of [...lines].sort((a, b) => a - b)) {
		if (line < 1 || line > doc.lines) continue;
		const from = doc.line(line).from;
		builder.add(from, from, decoration(tints.get(line), isMarked.has(line)));
	}
	return builder.finish();
}

/** One for each look, since thousands of lines share them. */
const made = new Map<string, Decoration>();

function decoration(tint: number | undefined, isMarked: boolean): Decoration {
	const tinted = tint === undefined ? '' : `cm-tint cm-tint-${tint}`;
	const name = `${tinted} ${isMarked ? 'cm-linked' : ''}`.trim();
	const known = made.get(name) ?? Decoration.line({ class: name });
	made.set(name, known);
	return known;
}
