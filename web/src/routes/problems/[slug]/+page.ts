import { devices, mySubmissions, problem } from '$lib/api/client';
import { asFailure } from '$lib/api/failure';
import { orErrorPage } from '$lib/api/load';
import { session } from '$lib/state/session.svelte';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params }) => {
	// Not waited for: the page opens without it. A visitor has none.
	const history = mySubmissions(params.slug).catch((thrown: unknown) => {
		session.note(asFailure(thrown));
		return null;
	});
	const [detail, deviceList] = await orErrorPage(Promise.all([problem(params.slug), devices()]));
	return { problem: detail, devices: deviceList, history };
};
