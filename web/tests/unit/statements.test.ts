// @vitest-environment jsdom

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { drawMath, renderMarkdown } from '$lib/markdown/render';

const PROBLEMS = join('..', 'problems');
const TEXTS = readdirSync(PROBLEMS).flatMap((slug) =>
	['statement.en.md', 'statement.zh.md', 'editorial.en.md', 'editorial.zh.md']
		.map((name) => join(PROBLEMS, slug, name))
		.filter((path) => existsSync(path))
);

describe('texts of the packages', () => {
	it('are found', () => {
		expect(TEXTS.length).toBeGreaterThan(10);
	});

	it.each(TEXTS)('%s renders with every formula drawn', async (path) => {
		const root = document.createElement('div');
		root.append(renderMarkdown(readFileSync(path, 'utf8')));
		await drawMath(root);
		const failed = [...root.querySelectorAll('.katex-error')].map((error) => error.textContent);
		expect(failed).toEqual([]);
		for (const drawn of root.querySelectorAll('.katex, pre, code')) drawn.remove();
		expect(root.textContent).not.toMatch(/\$/);
	});
});
