// What the editor and the compiled code tell each other: which lines of the source have code, in which
// colour, and which one is pointed at. Both sides read it; whichever is pointed at writes it.

import { SvelteMap } from 'svelte/reactivity';

export type Side = 'source' | 'code';

const NONE: ReadonlyMap<number, number> = new SvelteMap();

export class CodeLink {
	/** The code is shown; it stays so for the next judging. */
	open = $state(false);
	/** Colour by line of the source that has code. Empty while no code is shown. */
	tints = $state.raw<ReadonlyMap<number, number>>(NONE);
	/** The line of the source that is pointed at. */
	line = $state<number | null>(null);
	/** Where a caret went, which the other side brings into view; a mouse moves nothing. */
	reveal = $state.raw<{ from: Side; line: number } | null>(null);

	/** A caret or a mouse (`moves` false) is at what belongs to a line of the source. */
	point(from: Side, line: number | null, moves: boolean): void {
		if (this.tints.size === 0) return;
		this.line = line;
		if (moves && line !== null) this.reveal = { from, line };
	}

	show(tints: ReadonlyMap<number, number>): void {
		this.tints = tints;
		this.line = null;
		this.reveal = null;
	}

	clear(): void {
		this.show(NONE);
	}
}
