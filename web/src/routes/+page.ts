import { devices, problems } from '$lib/api/client';
import { orErrorPage } from '$lib/api/load';

import type { PageLoad } from './$types';

export const load: PageLoad = async () => {
	const [list, deviceList] = await orErrorPage(Promise.all([problems(), devices()]));
	return { problems: list, devices: deviceList };
};
