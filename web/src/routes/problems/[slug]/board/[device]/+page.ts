import { board, problem } from '$lib/api/client';
import { orErrorPage } from '$lib/api/load';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params }) => {
	const [detail, entries] = await orErrorPage(
		Promise.all([problem(params.slug), board(params.slug, params.device)])
	);
	return { problem: detail, board: entries };
};
