import { describe, expect, it } from 'vitest';

import * as units from '$lib/format/units';
import { ago } from '$lib/format/when';

describe('numbers with units', () => {
	it('spells seconds', () => {
		expect(units.seconds(0)).toBe('0 s');
		expect(units.seconds(2.5e-9)).toBe('2.50 ns');
		expect(units.seconds(1.84e-6)).toBe('1.84 µs');
		expect(units.seconds(0.31)).toBe('310 ms');
		expect(units.seconds(12.34)).toBe('12.3 s');
		expect(units.seconds(125)).toBe('2 min 05 s');
		expect(units.seconds(179.7)).toBe('3 min 00 s');
	});

	it('moves to the next unit when rounding reaches it', () => {
		expect(units.seconds(999.6e-6)).toBe('1.00 ms');
		expect(units.seconds(0.9999)).toBe('1.00 s');
		expect(units.flop(999_999)).toBe('1.00 MFLOP');
	});

	it('spells bytes, operations and counts', () => {
		expect(units.bytes(0)).toBe('0 B');
		expect(units.bytes(512)).toBe('512 B');
		expect(units.bytes(262_144)).toBe('256 KiB');
		expect(units.bytes(1.5 * 1024 ** 3)).toBe('1.50 GiB');
		expect(units.flop(137_438_953_472)).toBe('137 GFLOP');
		expect(units.count(16_777_216)).toBe('16\u202f777\u202f216');
		expect(units.count(7)).toBe('7');
	});

	it('marks what was modelled, not measured', () => {
		expect(units.score(0.6204, 'modelled_sol')).toBe('~0.620');
		expect(units.score(0.6204, 'sol')).toBe('0.620');
		expect(units.score(0.6204, 'traffic_efficiency')).toBe('0.620');
		expect(units.modelled(units.seconds(1.1e-6))).toBe('~1.10 µs');
		expect(units.score(null, 'modelled_sol')).toBe('—');
	});

	it('spells ratios and shares', () => {
		expect(units.ratio(0.7416)).toBe('0.742');
		expect(units.ratio(0)).toBe('0.000');
		expect(units.ratio(3.14e-5)).toBe('3.1e-5');
		expect(units.percent(0.5)).toBe('50 %');
		expect(units.percent(0.0123)).toBe('1.2 %');
		expect(units.percent(0.0001)).toBe('< 0.1 %');
		expect(units.percent(0)).toBe('0 %');
		expect(units.plain(1.4e-7)).toBe('1.40e-7');
		expect(units.plain(0)).toBe('0.00');
	});

	it('shortens what the judge wrote out, and keeps what differs apart', () => {
		expect(units.shortened(['-0.18712344765663147'])).toEqual(['-0.1871234']);
		expect(units.shortened(['2.1457672119140625e-06'])).toEqual(['0.000002145767']);
		expect(units.shortened(['-1.8712344765663147e-17'])).toEqual(['-1.871234e-17']);
		expect(units.shortened(['0.25', 'NaN', '-inf', ''])).toEqual(['0.25', 'NaN', '-inf', '']);
		expect(units.shortened(['1.0000000000000002'])).toEqual(['1']);
		expect(units.shortened(['9007199254740993'])).toEqual(['9007199254740993']);
		expect(units.shortened(['1.00000011920929', '1'])).toEqual(['1.0000001', '1']);
	});

	it('never makes a zero of what nobody measured', () => {
		for (const format of [
			units.seconds,
			units.bytes,
			units.flop,
			units.count,
			units.ratio,
			units.percent,
			units.plain
		]) {
			for (const nothing of [null, undefined, Number.NaN]) expect(format(nothing)).toBe('—');
		}
		expect(units.axes(null)).toBe('—');
		expect(units.axes({ M: 128, N: 4096 })).toBe('M=128 · N=4\u202f096');
	});
});

describe('points in time', () => {
	const now = Date.parse('2026-03-01T12:00:00Z');
	it('says how long ago, and the date once it is long', () => {
		expect(ago('2026-03-01T11:59:57Z', now, 'en')).toBe('3 seconds ago');
		expect(ago('2026-03-01T09:00:00Z', now, 'en')).toBe('3 hours ago');
		expect(ago('2026-03-01T11:30:00Z', now, 'zh-Hans')).toBe('30分钟前');
		expect(ago('2025-12-24T00:00:00Z', now, 'en-GB')).toContain('2025');
		expect(ago('2026-03-01T12:00:09Z', now, 'en')).toBe('now');
		expect(ago('soon', now, 'en')).toBe('soon');
	});
});
