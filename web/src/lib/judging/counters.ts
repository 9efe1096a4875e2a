// The emulated device's counters in reading order.

import type { Counters } from '$lib/api/types';

export interface CounterRow {
	name: string;
	/** Element type, of the per-type rows. */
	type: string | null;
	value: number;
}

/** Plain counters as the API orders them, then operations by type. Zeros tell something: kept. */
export function counterRows(counters: Counters): CounterRow[] {
	const { flop, ...plain } = counters;
	const rows = Object.entries(plain)
		.filter((entry): entry is [string, number] => typeof entry[1] === 'number')
		.map(([name, value]): CounterRow => ({ name, type: null, value }));
	const operations = Object.entries(flop).map(([type, value]): CounterRow => ({
		name: 'flop',
		type,
		value
	}));
	return [...rows, ...operations];
}
