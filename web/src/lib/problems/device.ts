// Which devices a problem page offers, and which one stands there first.

import type { DeviceName, DeviceView } from '$lib/api/types';

export interface DeviceChoice {
	name: DeviceName;
	emulated: boolean;
	/** A worker for it is connected. */
	live: boolean;
}

/** The problem's devices: those with a worker first, in the contract's order within each half. */
export function deviceChoices(
	offered: readonly DeviceName[],
	devices: readonly DeviceView[]
): DeviceChoice[] {
	const choices = devices
		.filter((device) => offered.includes(device.name))
		.map((device) => ({
			name: device.name,
			emulated: device.kind === 'emulated',
			live: device.live_workers > 0
		}));
	return [...choices.filter((choice) => choice.live), ...choices.filter((choice) => !choice.live)];
}

/** The remembered device while it is offered; else a live GPU; else the emulated device. */
export function firstChoice(choices: readonly DeviceChoice[], remembered: string | null): string {
	const known = choices.find((choice) => choice.name === remembered);
	const gpu = choices.find((choice) => choice.live && !choice.emulated);
	const emulated = choices.find((choice) => choice.emulated);
	return (known ?? gpu ?? emulated ?? choices[0])?.name ?? 'emulated';
}
