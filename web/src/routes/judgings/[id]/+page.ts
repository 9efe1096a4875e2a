import { judging, problem, submission } from '$lib/api/client';
import { orErrorPage } from '$lib/api/load';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params }) => {
	const found = await orErrorPage(judging(params.id));
	// The source is its author's; to others the judging shows without it.
	const [owned, about] = await Promise.all([
		submission(found.submission_id).catch(() => null),
		problem(found.problem.slug).catch(() => null)
	]);
	return { judging: found, submission: owned, title: about?.title ?? null };
};
