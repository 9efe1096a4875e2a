// Which problems the list shows.

import type { ProblemSummary } from '$lib/api/types';

export interface Filter {
	text: string;
	kind: ProblemSummary['kind'] | 'all';
	difficulty: string;
	status: 'all' | 'solved' | 'open';
}

export const NO_FILTER: Filter = { text: '', kind: 'all', difficulty: 'all', status: 'all' };

const DIFFICULTIES = ['easy', 'medium', 'hard'];

/** Every word must occur in the title (either language), the slug or a tag. */
export function matches(problem: ProblemSummary, filter: Filter): boolean {
	if (filter.kind !== 'all' && problem.kind !== filter.kind) return false;
	if (filter.difficulty !== 'all' && problem.difficulty !== filter.difficulty) return false;
	if (filter.status !== 'all' && (problem.solved === true) !== (filter.status === 'solved')) {
		return false;
	}
	const haystack = [problem.title.en, problem.title.zh, problem.slug, ...problem.tags]
		.join(' ')
		.toLocaleLowerCase();
	const words = filter.text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
	return words.every((word) => haystack.includes(word));
}

/** Lessons before workloads, the easier first, then by slug: the order in which to learn. */
export function inReadingOrder(problems: readonly ProblemSummary[]): ProblemSummary[] {
	const rank = (problem: ProblemSummary): number =>
		(problem.kind === 'lesson' ? 0 : 10) + Math.max(0, DIFFICULTIES.indexOf(problem.difficulty));
	return [...problems].sort((a, b) => rank(a) - rank(b) || (a.slug < b.slug ? -1 : 1));
}
