import type { ClientInit, HandleClientError } from '@sveltejs/kit';

import { session } from '$lib/state/session.svelte';

/** Who is signed in is asked while the first page loads, not behind it. */
export const init: ClientInit = () => {
	void session.refresh();
};

/** A part of the app that could not be fetched while navigating: nothing answers any more. */
const NOT_FETCHED =
	/dynamically imported module|importing a module script|failed to fetch|networkerror|load failed|preload css/i;

export const handleError: HandleClientError = ({ error, status, message }) => {
	if (error instanceof Error && NOT_FETCHED.test(error.message)) {
		session.offline = true;
		return { message: error.message, code: 'offline', status: 503 };
	}
	if (status !== 404) reportError(error);
	return { message };
};
