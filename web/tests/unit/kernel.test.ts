import { describe, expect, it } from 'vitest';

import { kernelName } from '$lib/format/kernel';

describe('the name of a kernel', () => {
	it('has parameters where it is overloaded, and no cast', () => {
		const names: [string, string][] = [
			['k<4>', 'k<4>'],
			['k<static_cast<Mode>(1)>', 'k<static_cast<Mode>(1)>'],
			['static_cast<void (*)(const float*, int)>(tanh)', 'tanh(const float*, int)'],
			[
				'static_cast<void (*)(Box<Box<int>>, int)>(k<static_cast<Mode>(1), Box<int>>)',
				'k<static_cast<Mode>(1), Box<int>>(Box<Box<int>>, int)'
			],
			['static_cast<int>(k)', 'k'],
			['static_cast<int', 'static_cast<int']
		];
		for (const [instance, told] of names) expect(kernelName(instance)).toBe(told);
	});
});
