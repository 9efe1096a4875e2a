// The text of one problem's editor, kept in the browser a moment after each change.

import {
	discardDraft,
	type Draft,
	forgetDraft,
	loadDraft,
	saveDraft,
	takeDiscarded
} from './drafts';

const SAVE_AFTER_MS = 400;

export type DraftState = 'starter' | 'saved' | 'unsaved';

export class DraftKeeper {
	text = $state('');
	state = $state<DraftState>('starter');
	canUndoReset = $state(false);

	#timer: ReturnType<typeof setTimeout> | null = null;

	constructor(
		private readonly slug: string,
		private readonly starter: string
	) {
		const draft = withStore((store) => loadDraft(store, slug));
		this.text = draft?.source ?? starter;
		this.state = draft === null ? 'starter' : 'saved';
	}

	/** The editor's text has changed. */
	edit(text: string): void {
		this.text = text;
		if (text !== this.starter) this.canUndoReset = false;
		if (this.#timer !== null) clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.flush(), SAVE_AFTER_MS);
	}

	/** Keeps the text now. */
	flush(): void {
		if (this.#timer === null) return;
		clearTimeout(this.#timer);
		this.#timer = null;
		if (this.text === this.starter) {
			withStore((store) => forgetDraft(store, this.slug));
			this.state = 'starter';
			return;
		}
		const kept = withStore((store) => saveDraft(store, this.slug, this.text, Date.now()));
		this.state = kept === true ? 'saved' : 'unsaved';
	}

	/** Forgets the draft; `undoReset` brings it back until the starter is edited. */
	reset(): void {
		if (this.text === this.starter) return;
		withStore((store) => discardDraft(store, this.slug, this.text, Date.now()));
		this.text = this.starter;
		this.state = 'starter';
		this.canUndoReset = true;
	}

	undoReset(): string | null {
		this.canUndoReset = false;
		return withStore((store): Draft | null => takeDiscarded(store, this.slug))?.source ?? null;
	}
}

/** The storage itself can be forbidden, not only full. */
function withStore<T>(use: (store: Storage) => T): T | null {
	try {
		return use(localStorage);
	} catch {
		return null;
	}
}
