import { judging, submission } from '$lib/api/client';
import { orErrorPage } from '$lib/api/load';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params }) => {
	const found = await orErrorPage(judging(params.id));
	// The source is its author's; to others the judging shows without it.
	const owned = await submission(found.submission_id).catch(() => null);
	return { judging: found, submission: owned };
};
