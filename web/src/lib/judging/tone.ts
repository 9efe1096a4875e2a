// How a verdict is coloured: good, bad, not the author's doing, or nothing yet.

import type { Verdict } from '$lib/api/types';

export type Tone = 'ok' | 'bad' | 'warn' | 'none';

export function toneOf(verdict: Verdict | null): Tone {
	switch (verdict) {
		case 'accepted':
			return 'ok';
		case null:
		case 'cancelled':
			return 'none';
		case 'held':
		case 'unsupported':
		case 'judge_error':
			return 'warn';
		default:
			return 'bad';
	}
}
