// Drafts of sources, kept in the browser, one a problem. Losing typed text is the worst thing a page
// can do: a draft outlives reloads, expired sessions and a reset (which can be taken back).

export interface Draft {
	source: string;
	savedAt: string;
}

/** What drafts need of `localStorage`. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const draftKey = (slug: string): string => `lightspeed.draft.${slug}`;
const discardedKey = (slug: string): string => `lightspeed.discarded.${slug}`;

export function loadDraft(store: Store, slug: string): Draft | null {
	return read(store, draftKey(slug));
}

/** Returns whether the text is safe; storage can be full or forbidden. */
export function saveDraft(store: Store, slug: string, source: string, now_ms: number): boolean {
	return write(store, draftKey(slug), { source, savedAt: new Date(now_ms).toISOString() });
}

export function forgetDraft(store: Store, slug: string): void {
	try {
		store.removeItem(draftKey(slug));
	} catch {
		// A store that refuses to forget keeps an old draft; nothing is lost.
	}
}

/** Forgets the draft and keeps its text for `takeDiscarded`. */
export function discardDraft(store: Store, slug: string, source: string, now_ms: number): void {
	write(store, discardedKey(slug), { source, savedAt: new Date(now_ms).toISOString() });
	forgetDraft(store, slug);
}

/** The text of the last discarded draft, once. */
export function takeDiscarded(store: Store, slug: string): Draft | null {
	const draft = read(store, discardedKey(slug));
	try {
		store.removeItem(discardedKey(slug));
	} catch {
		// As above.
	}
	return draft;
}

function read(store: Store, key: string): Draft | null {
	try {
		const value: unknown = JSON.parse(store.getItem(key) ?? 'null');
		if (typeof value !== 'object' || value === null) return null;
		const { source, savedAt } = value as Partial<Draft>;
		return typeof source === 'string' ? { source, savedAt: String(savedAt ?? '') } : null;
	} catch {
		return null;
	}
}

function write(store: Store, key: string, draft: Draft): boolean {
	try {
		store.setItem(key, JSON.stringify(draft));
		return true;
	} catch {
		return false;
	}
}
