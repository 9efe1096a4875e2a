// Names of kernels for people. The API spells an overload as the language does, by a cast.

const CAST = 'static_cast<';
/** What the cast's type begins with: a kernel returns nothing. */
const POINTER = 'void (*)';

/** `tanh(const float*, int)` of `static_cast<void (*)(const float*, int)>(tanh)`; other names as they are. */
export function kernelName(instance: string): string {
	if (!instance.startsWith(CAST)) return instance;
	let depth = 1;
	let end = CAST.length;
	for (; end < instance.length; end++) {
		if (instance[end] === '<') depth++;
		if (instance[end] === '>' && --depth === 0) break;
	}
	const type = instance.slice(CAST.length, end);
	const named = /^>\((.*)\)$/.exec(instance.slice(end))?.[1];
	if (named === undefined) return instance;
	return type.startsWith(POINTER) ? named + type.slice(POINTER.length) : named;
}
