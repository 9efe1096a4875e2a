// Points in time, as people say them.

const STEPS: readonly { limit_s: number; size_s: number; unit: Intl.RelativeTimeFormatUnit }[] = [
	{ limit_s: 60, size_s: 1, unit: 'second' },
	{ limit_s: 3_600, size_s: 60, unit: 'minute' },
	{ limit_s: 86_400, size_s: 3_600, unit: 'hour' },
	{ limit_s: 30 * 86_400, size_s: 86_400, unit: 'day' }
];

/** `3 minutes ago`; a date once it is more than a month back. */
export function ago(iso: string, now_ms: number, locale: string): string {
	const then_ms = Date.parse(iso);
	if (Number.isNaN(then_ms)) return iso;
	const age_s = Math.max(0, (now_ms - then_ms) / 1000);
	for (const { limit_s, size_s, unit } of STEPS) {
		if (age_s < limit_s) {
			const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
			return format.format(-Math.floor(age_s / size_s), unit);
		}
	}
	return new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }).format(then_ms);
}

/** The exact time, for tooltips and permalinks. */
export function exact(iso: string, locale: string): string {
	const then_ms = Date.parse(iso);
	if (Number.isNaN(then_ms)) return iso;
	return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }).format(
		then_ms
	);
}
