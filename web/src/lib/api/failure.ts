// What can go wrong between this page and the API, as one type that every page can show.
//
// Either the API answered with a problem document, or nothing that is the API answered at all.

import type { ProblemBody } from './types';

/** Codes of this page's own, for answers that never were a problem document. */
export type LocalCode = 'offline' | 'bad_answer';

export class ApiFailure extends Error {
	override readonly name = 'ApiFailure';

	constructor(
		readonly code: string,
		readonly detail: string,
		readonly status: number | null,
		readonly requestId: string | null
	) {
		super(`${code}: ${detail}`);
	}

	/** The API did not answer; trying again later may help. */
	get isOffline(): boolean {
		return this.code === 'offline' || this.status === 503;
	}

	get isSignedOut(): boolean {
		return this.status === 401;
	}

	get isNotFound(): boolean {
		return this.status === 404;
	}
}

/** Turns any thrown value into a failure. `fetch` throws a TypeError when nothing answers. */
export function asFailure(thrown: unknown): ApiFailure {
	if (thrown instanceof ApiFailure) return thrown;
	const detail = thrown instanceof Error ? thrown.message : String(thrown);
	return new ApiFailure('offline', detail, null, null);
}

/** Reads the body of an answer that was not a success; `body` is whatever could be parsed of it. */
export function failureFromAnswer(response: Response, body: unknown): ApiFailure {
	if (isProblemBody(body)) {
		return new ApiFailure(body.code, body.detail, response.status, body.request_id);
	}
	const requestId = response.headers.get('x-request-id');
	// A gateway spoke in the service's place.
	if ([502, 503, 504].includes(response.status)) {
		return new ApiFailure('offline', response.statusText, response.status, requestId);
	}
	return new ApiFailure('bad_answer', response.statusText, response.status, requestId);
}

function isProblemBody(body: unknown): body is ProblemBody {
	if (typeof body !== 'object' || body === null) return false;
	const fields = body as Record<string, unknown>;
	return typeof fields.code === 'string' && typeof fields.detail === 'string';
}
