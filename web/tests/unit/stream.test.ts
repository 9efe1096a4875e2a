import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { follow } from '$lib/judging/stream';

class FakeSource extends EventTarget {
	static readonly CLOSED = 2;
	static opened: FakeSource[] = [];
	readyState = 0;
	onopen: (() => void) | null = null;
	onerror: (() => void) | null = null;

	constructor(readonly url: string) {
		super();
		FakeSource.opened.push(this);
	}

	close(): void {
		this.readyState = FakeSource.CLOSED;
	}

	say(name: string, data: unknown, lastEventId = ''): void {
		this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data), lastEventId }));
	}

	breakFor(good: boolean): void {
		if (!good) this.readyState = FakeSource.CLOSED;
		this.onerror?.();
	}
}

const SUBMISSION = '0190c000-0001-7000-8000-000000000001';
const EVENT = { event: 'phase', judging_id: 'j', attempt: 1, phase: 'compiling' };

beforeEach(() => {
	FakeSource.opened = [];
	vi.stubGlobal('EventSource', FakeSource);
	vi.useFakeTimers();
});
afterEach(() => {
	vi.unstubAllGlobals();
	vi.useRealTimers();
});

function start(goOn = true) {
	const handlers = { onEvent: vi.fn(), onConnection: vi.fn(), onBroken: vi.fn(async () => goOn) };
	return { handlers, stream: follow(SUBMISSION, 0, handlers) };
}

describe('the event stream', () => {
	it('hands over events and leaves short losses to the browser', async () => {
		const { handlers } = start();
		const [source] = FakeSource.opened;
		source?.say('phase', EVENT, `${SUBMISSION}:3`);
		expect(handlers.onEvent).toHaveBeenCalledWith(EVENT);
		source?.breakFor(true);
		await vi.advanceTimersByTimeAsync(60_000);
		expect(handlers.onConnection).toHaveBeenLastCalledWith(false);
		expect(FakeSource.opened).toHaveLength(1);
	});

	it('reconnects behind the last stored event after a loss for good', async () => {
		const { handlers } = start();
		FakeSource.opened[0]?.say('phase', EVENT, `${SUBMISSION}:3`);
		FakeSource.opened[0]?.say('progress', { ...EVENT, event: 'progress' });
		FakeSource.opened[0]?.breakFor(false);
		await vi.advanceTimersByTimeAsync(1_100);
		expect(handlers.onBroken).toHaveBeenCalledOnce();
		expect(FakeSource.opened[1]?.url).toBe(`/api/v1/submissions/${SUBMISSION}/events?after=3`);
	});

	it('waits longer after each failure', async () => {
		start();
		FakeSource.opened[0]?.breakFor(false);
		await vi.advanceTimersByTimeAsync(1_100);
		FakeSource.opened[1]?.breakFor(false);
		await vi.advanceTimersByTimeAsync(1_100);
		expect(FakeSource.opened).toHaveLength(2);
		await vi.advanceTimersByTimeAsync(1_000);
		expect(FakeSource.opened).toHaveLength(3);
	});

	it('stops when nothing follows, and when it is closed', async () => {
		start(false);
		FakeSource.opened[0]?.breakFor(false);
		await vi.advanceTimersByTimeAsync(60_000);
		expect(FakeSource.opened).toHaveLength(1);
		const { handlers, stream } = start();
		stream.close();
		FakeSource.opened[1]?.say('phase', EVENT);
		FakeSource.opened[1]?.breakFor(false);
		await vi.advanceTimersByTimeAsync(60_000);
		expect(handlers.onEvent).not.toHaveBeenCalled();
		expect(FakeSource.opened).toHaveLength(2);
	});
});
