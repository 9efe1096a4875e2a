// Numbers for people: SI prefixes for seconds, bytes and operations, never a unit left out, and an
// em dash where nobody measured.

export const ABSENT = '—';

type Maybe = number | null | undefined;

const TIME_UNITS = [
	{ below: 1e-6, scale: 1e9, unit: 'ns' },
	{ below: 1e-3, scale: 1e6, unit: 'µs' },
	{ below: 1, scale: 1e3, unit: 'ms' },
	{ below: 120, scale: 1, unit: 's' }
] as const;

/** A duration given in seconds: `1.84 µs`, `310 ms`, `2 min 05 s`. */
export function seconds(value_s: Maybe): string {
	if (!isNumber(value_s)) return ABSENT;
	if (value_s === 0) return '0 s';
	const size = Math.abs(value_s);
	for (const { below, scale, unit } of TIME_UNITS) {
		// Rounding must not carry a number out of its unit: 999.96 µs reads 1.00 ms.
		if (Number((size * scale).toPrecision(3)) < below * scale) {
			return `${significant(value_s * scale)} ${unit}`;
		}
	}
	const whole = Math.round(value_s);
	return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}

/** A byte count with binary prefixes: `512 B`, `96.0 MiB`. */
export function bytes(value_bytes: Maybe): string {
	if (!isNumber(value_bytes)) return ABSENT;
	const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
	return scaled(value_bytes, 1024, units);
}

/** An operation count with decimal prefixes: `33.6 MFLOP`. */
export function flop(value_flop: Maybe): string {
	if (!isNumber(value_flop)) return ABSENT;
	return scaled(value_flop, 1000, ['FLOP', 'kFLOP', 'MFLOP', 'GFLOP', 'TFLOP', 'PFLOP']);
}

/** A whole number with thin groups: `16 777 216`. */
export function count(value: Maybe): string {
	if (!isNumber(value)) return ABSENT;
	const text = String(Math.trunc(value));
	return text.replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

/** A ratio between 0 and 1 with three places; tiny ones keep their size: `0.742`, `3.1e-5`. */
export function ratio(value: Maybe): string {
	if (!isNumber(value)) return ABSENT;
	if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
	return value.toFixed(3);
}

/** A number that was modelled, not measured: `~0.62`. */
export function modelled(text: string): string {
	return text === ABSENT ? text : `~${text}`;
}

/** A score in the way of its metric. */
export function score(value: Maybe, metric: string): string {
	return metric === 'modelled_sol' ? modelled(ratio(value)) : ratio(value);
}

/** A share as per cent: `12.5 %`. */
export function percent(value: Maybe): string {
	if (!isNumber(value)) return ABSENT;
	const hundred = value * 100;
	if (hundred > 0 && hundred < 0.1) return '< 0.1 %';
	return `${hundred >= 10 || Number.isInteger(hundred) ? hundred.toFixed(0) : hundred.toFixed(1)} %`;
}

/** An error or other plain number of unknown size: three significant digits. */
export function plain(value: Maybe): string {
	if (!isNumber(value)) return ABSENT;
	const size = Math.abs(value);
	if (value !== 0 && (size >= 1e6 || size < 1e-3)) return value.toExponential(2);
	return significant(value);
}

/**
 * Numbers that the judge wrote out in full, shortened to stand side by side: seven significant digits,
 * and more where the texts differ but would read the same. Whole numbers and words (`NaN`) stay.
 */
export function shortened(texts: readonly string[]): string[] {
	const distinct = new Set(texts).size;
	for (let digits = 7; digits < 17; digits += 1) {
		const short = texts.map((text) => shortNumber(text, digits));
		if (new Set(short).size === distinct) return short;
	}
	return [...texts];
}

function shortNumber(text: string, digits: number): string {
	const value = Number(text);
	if (text.trim() === '' || !Number.isFinite(value) || /^[-+]?\d+$/.test(text)) return text;
	const [mantissa = '', exponent] = value.toPrecision(digits).split('e');
	const trimmed = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
	const short = exponent === undefined ? trimmed : `${trimmed}e${exponent}`;
	return short.length < text.length ? short : text;
}

/** Axis values in a stable order: `M=128 · N=4 096`. */
export function axes(values: Readonly<Record<string, number>> | null | undefined): string {
	if (values == null) return ABSENT;
	const parts = Object.entries(values).map(([name, value]) => `${name}=${count(value)}`);
	return parts.length === 0 ? ABSENT : parts.join(' · ');
}

function isNumber(value: Maybe): value is number {
	return typeof value === 'number' && Number.isFinite(value);
}

function scaled(
	value: number,
	base: number,
	units: readonly [string, ...string[]] | string[]
): string {
	let step = 0;
	let size = value;
	while (step < units.length - 1 && Number(Math.abs(size).toPrecision(3)) >= base) {
		size /= base;
		step += 1;
	}
	const digits = step === 0 ? count(size) : significant(size);
	return `${digits} ${units[step] ?? ''}`;
}

function significant(value: number): string {
	const size = Math.abs(value);
	if (size >= 100) return value.toFixed(0);
	if (size >= 10) return value.toFixed(1);
	return value.toFixed(2);
}
