// The state of one judging as the page shows it while events arrive.
//
// A pure reducer: events may be repeated (a resumed stream replays) or concern an older judging of
// the submission; the state must come out the same.

import type { Event, Phase, Report, Status, Verdict, VerdictKind } from '$lib/api/types';

/** Phases in the order in which an attempt passes through them. */
export const PHASES: readonly Phase[] = ['compiling', 'checking', 'timing', 'verifying'];

export interface LiveJudging {
	judgingId: string;
	status: Status;
	/** Which attempt runs, from 1; 0 before the first. */
	attempt: number;
	phase: Phase | null;
	/** Steps of `phase` finished, and in all; `null` until the worker says. */
	done: number | null;
	total: number | null;
	verdict: Verdict | null;
	kind: VerdictKind | null;
	message: string | null;
	report: Report | null;
}

export function queuedJudging(judgingId: string): LiveJudging {
	return {
		judgingId,
		status: 'queued',
		attempt: 0,
		phase: null,
		done: null,
		total: null,
		verdict: null,
		kind: null,
		message: null,
		report: null
	};
}

/** Whether no event can follow. */
export function isFinal(state: LiveJudging): boolean {
	return state.status === 'done';
}

export function reduce(state: LiveJudging, event: Event): LiveJudging {
	if (event.judging_id !== state.judgingId) {
		return isNewer(event.judging_id, state.judgingId)
			? reduce(queuedJudging(event.judging_id), event)
			: state;
	}
	switch (event.event) {
		case 'status':
			return {
				...state,
				status: event.status,
				attempt: event.attempt,
				// Queued again after a lost worker: what the old attempt had reached is gone.
				...(event.status === 'queued' ? { phase: null, done: null, total: null } : {}),
				verdict: event.verdict ?? null,
				kind: event.kind ?? null,
				message: event.message ?? null
			};
		case 'phase':
			if (isFinal(state)) return state;
			return {
				...state,
				status: 'running',
				attempt: event.attempt,
				phase: event.phase,
				...(event.phase === state.phase ? {} : { done: null, total: null })
			};
		case 'progress':
			if (isFinal(state)) return state;
			return {
				...state,
				status: 'running',
				phase: event.phase,
				done: event.done,
				total: event.total
			};
		case 'report':
			return { ...state, report: event.report };
	}
}

/** Parses the data of one server-sent event; `null` for anything this page does not know. */
export function parseEvent(data: string): Event | null {
	try {
		const value: unknown = JSON.parse(data);
		if (typeof value !== 'object' || value === null) return null;
		const { event, judging_id } = value as { event?: unknown; judging_id?: unknown };
		if (typeof judging_id !== 'string') return null;
		if (event !== 'status' && event !== 'phase' && event !== 'progress' && event !== 'report') {
			return null;
		}
		return value as Event;
	} catch {
		return null;
	}
}

/** The `seq` of an event id `submission:seq`; 0 when there is none. */
export function sequenceOf(eventId: string): number {
	const seq = Number(eventId.slice(eventId.lastIndexOf(':') + 1));
	return Number.isSafeInteger(seq) && seq > 0 ? seq : 0;
}

/** Ids are UUIDv7: the later one sorts behind. */
function isNewer(a: string, b: string): boolean {
	return a > b;
}
