// One submission at a time: sends it, follows it to its verdict, cancels it. The problem page shows
// this object's state; nothing else speaks to the API about a running judging.

import * as api from '$lib/api/client';
import { type ApiFailure, asFailure } from '$lib/api/failure';
import type { Mode, SubmissionSummary } from '$lib/api/types';
import { session } from '$lib/state/session.svelte';

import { isFinal, type LiveJudging, queuedJudging, reduce } from './live';
import { follow, type Stream } from './stream';

const QUEUE_POLL_MS = 2_000;

export class Workbench {
	/** What is shown; `null` before the first submission. */
	live = $state.raw<LiveJudging | null>(null);
	submissionId = $state<string | null>(null);
	mode = $state<Mode>('practice');
	device = $state('');
	sending = $state(false);
	cancelling = $state(false);
	/** The result of an earlier submission is on its way. */
	loading = $state(false);
	/** Events can arrive. */
	connected = $state(true);
	/** Judgings that are taken before this one, while queued. */
	queuedAhead = $state<number | null>(null);
	failure = $state.raw<ApiFailure | null>(null);

	#stream: Stream | null = null;
	#poll: ReturnType<typeof setInterval> | null = null;
	/** Counts what is followed, so that answers about an earlier one are dropped. */
	#turn = 0;

	constructor(private readonly onDone: (live: LiveJudging) => void) {}

	/** A judging is under way: only Cancel makes sense. */
	get busy(): boolean {
		return this.sending || (this.live !== null && !isFinal(this.live));
	}

	/** Sends a source; resolves once it is accepted or refused. */
	async submit(problem: string, device: string, mode: Mode, source: string): Promise<boolean> {
		if (this.busy) return false;
		this.#release();
		this.failure = null;
		this.sending = true;
		this.mode = mode;
		this.device = device;
		try {
			const sent = await api.submit(problem, device, mode, source);
			session.offline = false;
			this.#attach(sent.submission_id, queuedJudging(sent.judging_id), 0);
			return true;
		} catch (thrown) {
			this.#fail(thrown);
			return false;
		} finally {
			this.sending = false;
		}
	}

	/** Shows an earlier submission: its report, or its events when it is still under way. */
	async show(summary: SubmissionSummary): Promise<void> {
		if (this.sending) return;
		this.#release();
		this.failure = null;
		this.mode = summary.mode;
		this.device = summary.device;
		const start = { ...queuedJudging(summary.judging_id), status: summary.status };
		if (summary.status !== 'done') {
			this.#attach(summary.submission_id, start, 0);
			return;
		}
		this.submissionId = summary.submission_id;
		const turn = this.#turn;
		this.loading = true;
		await this.#finishFromJudging(turn, start);
		if (turn === this.#turn) this.loading = false;
	}

	async cancel(): Promise<void> {
		if (this.submissionId === null || this.cancelling) return;
		this.cancelling = true;
		try {
			await api.cancel(this.submissionId);
		} catch (thrown) {
			const failure = asFailure(thrown);
			// It was faster than the click: the verdict is on its way.
			if (failure.code !== 'already_done') this.#fail(failure);
		} finally {
			this.cancelling = false;
		}
	}

	dispose(): void {
		this.#release();
	}

	#attach(submissionId: string, start: LiveJudging, after: number): void {
		const turn = this.#turn;
		this.submissionId = submissionId;
		this.live = start;
		this.connected = true;
		this.#stream = follow(submissionId, after, {
			onEvent: (event) => {
				if (turn !== this.#turn || this.live === null) return;
				this.live = reduce(this.live, event);
				if (isFinal(this.live)) void this.#finish(turn);
			},
			onConnection: (connected) => {
				if (turn === this.#turn) this.connected = connected;
			},
			onBroken: () => this.#askAgain(turn, submissionId)
		});
		void this.#refreshQueue(turn);
		this.#poll = setInterval(() => void this.#refreshQueue(turn), QUEUE_POLL_MS);
	}

	async #finish(turn: number): Promise<void> {
		const live = this.live;
		this.#stopListening();
		if (live === null) return;
		// A report that the stream did not carry (a judging without a living attempt has none).
		if (live.report === null) await this.#finishFromJudging(turn, live);
		else this.onDone(live);
	}

	async #finishFromJudging(turn: number, start: LiveJudging): Promise<void> {
		try {
			const judging = await api.judging(start.judgingId);
			if (turn !== this.#turn) return;
			this.live = {
				...start,
				status: judging.status,
				attempt: judging.attempts,
				verdict: judging.verdict ?? null,
				kind: judging.kind ?? null,
				message: judging.message ?? null,
				report: judging.report ?? null
			};
			this.onDone(this.live);
		} catch (thrown) {
			if (turn === this.#turn) this.#fail(thrown);
		}
	}

	/** The stream broke for good: is there anything left to listen to? */
	async #askAgain(turn: number, submissionId: string): Promise<boolean> {
		try {
			const now = await api.submission(submissionId);
			if (turn !== this.#turn || this.live === null) return false;
			session.offline = false;
			if (now.status !== 'done') return true;
			const done = { ...queuedJudging(now.judging_id), status: now.status };
			this.#stopListening();
			await this.#finishFromJudging(turn, done);
			return false;
		} catch (thrown) {
			if (turn !== this.#turn) return false;
			const failure = asFailure(thrown);
			session.note(failure);
			if (failure.isOffline) return true;
			this.#fail(failure);
			return false;
		}
	}

	async #refreshQueue(turn: number): Promise<void> {
		if (this.live?.status !== 'queued' || this.submissionId === null) {
			this.queuedAhead = null;
			return;
		}
		try {
			const now = await api.submission(this.submissionId);
			if (turn === this.#turn) this.queuedAhead = now.queued_ahead ?? null;
		} catch {
			// Only the place in the queue is missing; the stream tells whether the service is gone.
		}
	}

	#fail(thrown: unknown): void {
		this.failure = asFailure(thrown);
		session.note(this.failure);
	}

	#stopListening(): void {
		this.#stream?.close();
		this.#stream = null;
		if (this.#poll !== null) clearInterval(this.#poll);
		this.#poll = null;
		this.queuedAhead = null;
	}

	#release(): void {
		this.#turn += 1;
		this.loading = false;
		this.#stopListening();
	}
}
