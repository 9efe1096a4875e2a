import { devices, problem } from '$lib/api/client';
import { orErrorPage } from '$lib/api/load';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params }) => {
	const [detail, deviceList] = await orErrorPage(Promise.all([problem(params.slug), devices()]));
	return { problem: detail, devices: deviceList };
};
