// Follows the events of one submission until its judging is done, over any number of lost connections.
//
// The browser's EventSource resumes by itself after most losses. It gives up for good when the server
// answers with an error (a restart behind a proxy, say); then this reconnects behind the last stored
// event, ever more slowly.

import { eventsUrl } from '$lib/api/client';
import type { Event } from '$lib/api/types';

import { parseEvent, sequenceOf } from './live';

const EVENT_NAMES = ['status', 'phase', 'progress', 'report'] as const;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 15_000;

export interface StreamHandlers {
	onEvent: (event: Event) => void;
	/** `true` while events can arrive, `false` while the connection is lost. */
	onConnection: (connected: boolean) => void;
	/**
	 * The stream ended, or cannot be opened. Asks the API for the state itself and says whether to go on
	 * listening: the answer 204 ("nothing follows") cannot be told from an error otherwise.
	 */
	onBroken: () => Promise<boolean>;
}

export interface Stream {
	close: () => void;
}

/** Opens the stream behind event number `after` (0: from the start). The caller closes it. */
export function follow(submissionId: string, after: number, handlers: StreamHandlers): Stream {
	let source: EventSource | null = null;
	let timer: ReturnType<typeof setTimeout> | null = null;
	let lastSeq = after;
	let retryMs = FIRST_RETRY_MS;
	let closed = false;

	function open(): void {
		if (closed) return;
		const current = new EventSource(eventsUrl(submissionId, lastSeq));
		source = current;
		current.onopen = () => {
			retryMs = FIRST_RETRY_MS;
			handlers.onConnection(true);
		};
		current.onerror = () => {
			if (closed || source !== current) return;
			handlers.onConnection(false);
			if (current.readyState === EventSource.CLOSED) void retryLater();
		};
		for (const name of EVENT_NAMES) {
			current.addEventListener(name, (message) => {
				if (closed) return;
				lastSeq = Math.max(lastSeq, sequenceOf(message.lastEventId));
				const event = parseEvent(message.data);
				if (event !== null) handlers.onEvent(event);
			});
		}
	}

	async function retryLater(): Promise<void> {
		source?.close();
		source = null;
		const goOn = await handlers.onBroken();
		if (closed || !goOn) return;
		timer = setTimeout(open, retryMs);
		retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
	}

	open();
	return {
		close() {
			closed = true;
			source?.close();
			if (timer !== null) clearTimeout(timer);
		}
	};
}
