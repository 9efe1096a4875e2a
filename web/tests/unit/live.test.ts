import { describe, expect, it } from 'vitest';

import type { Event, Report } from '$lib/api/types';
import { isFinal, parseEvent, queuedJudging, reduce, sequenceOf } from '$lib/judging/live';

const ID = '0190c000-0002-7000-8000-000000000001';
const LATER = '0190c000-0003-7000-8000-000000000001';
const REPORT = { schema: 'lightspeed.report/1', verdict: 'accepted' } as Report;

const status = (
	status: 'queued' | 'running' | 'done',
	attempt: number,
	rest: Partial<Extract<Event, { event: 'status' }>> = {}
): Event => ({ event: 'status', judging_id: ID, status, attempt, ...rest });
const phase = (phase: 'compiling' | 'checking'): Event => ({
	event: 'phase',
	judging_id: ID,
	attempt: 1,
	phase
});
const progress = (done: number, total: number): Event => ({
	event: 'progress',
	judging_id: ID,
	phase: 'checking',
	done,
	total
});
const play = (events: Event[], start = queuedJudging(ID)) => events.reduce(reduce, start);

const WHOLE: Event[] = [
	status('queued', 0),
	status('running', 1),
	phase('compiling'),
	phase('checking'),
	progress(1, 2),
	progress(2, 2),
	{ event: 'report', judging_id: ID, report: REPORT },
	status('done', 1, { verdict: 'accepted', message: 'All correct.' })
];

describe('the event reducer', () => {
	it('goes from queued over the phases to a verdict with its report', () => {
		const middle = play(WHOLE.slice(0, 5));
		expect(middle).toMatchObject({ status: 'running', phase: 'checking', done: 1, total: 2 });
		expect(isFinal(middle)).toBe(false);
		const end = play(WHOLE);
		expect(isFinal(end)).toBe(true);
		expect(end).toMatchObject({ verdict: 'accepted', message: 'All correct.', report: REPORT });
	});

	it('comes out the same when a resumed stream replays everything', () => {
		expect(play([...WHOLE, ...WHOLE])).toEqual(play(WHOLE));
	});

	it('ignores late progress behind the verdict', () => {
		expect(play([...WHOLE, progress(1, 2), phase('compiling')])).toEqual(play(WHOLE));
	});

	it('forgets how far a lost attempt was', () => {
		const again = play([...WHOLE.slice(0, 5), status('queued', 1, { message: 'worker lost' })]);
		expect(again).toMatchObject({ status: 'queued', attempt: 1, phase: null, done: null });
		expect(again.message).toBe('worker lost');
	});

	it('starts anew for a newer judging and drops an older one', () => {
		const newer = reduce(play(WHOLE), {
			event: 'status',
			judging_id: LATER,
			status: 'queued',
			attempt: 0
		});
		expect(newer).toEqual(queuedJudging(LATER));
		expect(reduce(newer, phase('checking'))).toBe(newer);
	});

	it('starts counting again when the phase changes, not when it is repeated', () => {
		const counted = play([phase('checking'), progress(1, 2)]);
		expect(reduce(counted, phase('checking')).done).toBe(1);
		expect(reduce(counted, phase('compiling')).done).toBeNull();
	});
});

describe('reading events', () => {
	it('takes known events and nothing else', () => {
		expect(parseEvent(JSON.stringify(WHOLE[0]))).toEqual(WHOLE[0]);
		for (const bad of ['', '{', 'null', '7', '{}', '{"event":"status"}']) {
			expect(parseEvent(bad), bad).toBeNull();
		}
		expect(parseEvent(JSON.stringify({ event: 'applause', judging_id: ID }))).toBeNull();
	});

	it('finds the sequence number in an id', () => {
		expect(sequenceOf(`${ID}:17`)).toBe(17);
		expect(sequenceOf('')).toBe(0);
		expect(sequenceOf(`${ID}:-3`)).toBe(0);
		expect(sequenceOf(`${ID}:x`)).toBe(0);
	});
});
