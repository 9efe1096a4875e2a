// @vitest-environment jsdom

import { beforeEach, describe, expect, it, vi } from 'vitest';

import { ApiFailure, asFailure, failureFromAnswer } from '$lib/api/failure';
import type { DeviceView, ProblemSummary } from '$lib/api/types';
import { counterRows } from '$lib/judging/counters';
import { toneOf } from '$lib/judging/tone';
import { deviceChoices, firstChoice } from '$lib/problems/device';
import { inReadingOrder, matches, NO_FILTER } from '$lib/problems/filter';
import { DraftKeeper } from '$lib/state/draft-keeper.svelte';
import { discardDraft, loadDraft, saveDraft, takeDiscarded } from '$lib/state/drafts';

describe('drafts', () => {
	beforeEach(() => localStorage.clear());

	it('outlive a reload, one a problem', () => {
		expect(saveDraft(localStorage, 'a', 'text', 0)).toBe(true);
		expect(loadDraft(localStorage, 'a')?.source).toBe('text');
		expect(loadDraft(localStorage, 'b')).toBeNull();
	});

	it('come back once after a reset', () => {
		saveDraft(localStorage, 'a', 'text', 0);
		discardDraft(localStorage, 'a', 'text', 0);
		expect(loadDraft(localStorage, 'a')).toBeNull();
		expect(takeDiscarded(localStorage, 'a')?.source).toBe('text');
		expect(takeDiscarded(localStorage, 'a')).toBeNull();
	});

	it('say so when the storage refuses, and survive garbage in it', () => {
		const full = {
			getItem: () => null,
			removeItem: () => undefined,
			setItem: () => {
				throw new DOMException('full', 'QuotaExceededError');
			}
		};
		expect(saveDraft(full, 'a', 'text', 0)).toBe(false);
		localStorage.setItem('lightspeed.draft.a', '{nonsense');
		expect(loadDraft(localStorage, 'a')).toBeNull();
		localStorage.setItem('lightspeed.draft.a', '{"source": 7}');
		expect(loadDraft(localStorage, 'a')).toBeNull();
	});

	it('are kept a moment after typing, and a reset can be taken back', () => {
		vi.useFakeTimers();
		const keeper = new DraftKeeper('a', 'starter');
		keeper.edit('mine');
		expect(loadDraft(localStorage, 'a')).toBeNull();
		vi.advanceTimersByTime(500);
		expect(loadDraft(localStorage, 'a')?.source).toBe('mine');
		keeper.reset();
		expect(keeper.text).toBe('starter');
		keeper.edit('starter');
		expect(keeper.canUndoReset).toBe(true);
		expect(keeper.undoReset()).toBe('mine');
		vi.useRealTimers();
	});

	it('end where the text is the starter again', () => {
		const keeper = new DraftKeeper('a', 'starter');
		keeper.edit('mine');
		keeper.flush();
		expect(keeper.state).toBe('saved');
		keeper.edit('starter');
		keeper.flush();
		expect(keeper.state).toBe('starter');
		expect(new DraftKeeper('a', 'starter').text).toBe('starter');
	});
});

describe('failures', () => {
	it('read a problem document', () => {
		const body = { code: 'unknown_problem', detail: 'no', request_id: 'r', status: 404 };
		const failure = failureFromAnswer(new Response(null, { status: 404 }), body);
		expect(failure).toMatchObject({ code: 'unknown_problem', detail: 'no', requestId: 'r' });
		expect(failure.isNotFound).toBe(true);
		expect(failure.isOffline).toBe(false);
	});

	it('tell a foreign answer and silence apart', () => {
		const headers = { 'x-request-id': 'abc' };
		const proxy = failureFromAnswer(new Response('', { status: 502, headers }), '<html>');
		expect(proxy).toMatchObject({ code: 'offline', requestId: 'abc', isOffline: true });
		expect(asFailure(new TypeError('fetch failed'))).toMatchObject({ code: 'offline' });
		const known = new ApiFailure('internal', '', 500, null);
		expect(asFailure(known)).toBe(known);
	});
});

const problem = (slug: string, extra: Partial<ProblemSummary> = {}): ProblemSummary => ({
	slug,
	version: 1,
	kind: 'lesson',
	title: { en: `Title of ${slug}`, zh: '向量加法' },
	difficulty: 'easy',
	tags: ['gemm'],
	bound: 'memory',
	devices: ['emulated', 'h200'],
	solvers: 0,
	solved: false,
	...extra
});

describe('the problem list', () => {
	it('finds by title in both languages, slug and tag', () => {
		const one = problem('vector_add');
		for (const text of ['title', '向量', 'vector_add', 'GEMM', 'vector gemm']) {
			expect(matches(one, { ...NO_FILTER, text }), text).toBe(true);
		}
		expect(matches(one, { ...NO_FILTER, text: 'vector softmax' })).toBe(false);
		expect(matches(one, { ...NO_FILTER, status: 'open' })).toBe(true);
		expect(matches(one, { ...NO_FILTER, status: 'solved' })).toBe(false);
		expect(matches(one, { ...NO_FILTER, kind: 'workload' })).toBe(false);
		expect(matches(one, { ...NO_FILTER, difficulty: 'hard' })).toBe(false);
	});

	it('puts lessons and easy ones first', () => {
		const list = [
			problem('w', { kind: 'workload' }),
			problem('b', { difficulty: 'hard' }),
			problem('c'),
			problem('a')
		];
		expect(inReadingOrder(list).map((one) => one.slug)).toEqual(['a', 'c', 'b', 'w']);
	});
});

describe('devices', () => {
	const device = (name: DeviceView['name'], live_workers: number): DeviceView => ({
		name,
		kind: name === 'emulated' ? 'emulated' : 'gpu',
		live_workers,
		queued: 0
	});
	const all = [device('emulated', 0), device('h200', 1), device('t4', 1)];

	it('offers what the problem runs on, live ones first', () => {
		const choices = deviceChoices(['emulated', 'h200'], all);
		expect(choices.map((choice) => choice.name)).toEqual(['h200', 'emulated']);
		expect(firstChoice(choices, null)).toBe('h200');
		expect(firstChoice(choices, 'emulated')).toBe('emulated');
		expect(firstChoice(choices, 't4')).toBe('h200');
	});

	it('falls back to the emulated device', () => {
		const choices = deviceChoices(['emulated', 'h200'], [device('emulated', 1), device('h200', 0)]);
		expect(firstChoice(choices, null)).toBe('emulated');
		expect(firstChoice([], null)).toBe('emulated');
	});
});

describe('report details', () => {
	it('lists counters in order, operations last', () => {
		const rows = counterRows({
			warp_instructions: 3,
			thread_instructions: 96,
			global_requests: 0,
			global_load_sectors: 0,
			global_store_sectors: 0,
			shared_requests: 0,
			shared_wavefronts: 0,
			barriers: 0,
			atomics: 0,
			divergent_branches: 0,
			flop: { f32: 7 }
		});
		expect(rows[0]).toEqual({ name: 'warp_instructions', type: null, value: 3 });
		expect(rows.at(-1)).toEqual({ name: 'flop', type: 'f32', value: 7 });
		expect(rows).toHaveLength(11);
	});

	it('colours verdicts by whose doing they are', () => {
		expect(toneOf('accepted')).toBe('ok');
		expect(toneOf('wrong_answer')).toBe('bad');
		expect(toneOf('judge_error')).toBe('warn');
		expect(toneOf(null)).toBe('none');
	});
});
