// Calls made while a page loads: a failure becomes SvelteKit's error page, with code and request id.

import { error } from '@sveltejs/kit';

import { session } from '$lib/state/session.svelte';

import { asFailure } from './failure';

export async function orErrorPage<T>(call: Promise<T>): Promise<T> {
	try {
		const answer = await call;
		session.offline = false;
		return answer;
	} catch (thrown) {
		const failure = asFailure(thrown);
		session.note(failure);
		return error(failure.status ?? 503, {
			message: failure.detail,
			code: failure.code,
			status: failure.status ?? 503,
			...(failure.requestId === null ? {} : { requestId: failure.requestId })
		});
	}
}
