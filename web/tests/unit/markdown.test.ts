// @vitest-environment jsdom

import { describe, expect, it } from 'vitest';

import { drawMath, renderMarkdown } from '$lib/markdown/render';

function render(source: string): HTMLElement {
	const root = document.createElement('div');
	root.append(renderMarkdown(source));
	return root;
}

/** Everything that could run or load something, in any element of the result. */
function dangers(root: HTMLElement): string[] {
	const found: string[] = [];
	for (const element of root.querySelectorAll('*')) {
		if (
			/^(script|style|iframe|object|embed|img|svg|math|form|input|base|link|meta)$/i.test(
				element.tagName
			)
		) {
			found.push(element.tagName);
		}
		for (const { name, value } of element.attributes) {
			if (/^on|^style$|^src|^action$|^formaction$|^xlink/i.test(name)) found.push(name);
			if (name === 'href' && !/^(https:\/\/|#|\/(?!\/))/i.test(value)) found.push(value);
		}
	}
	return found;
}

describe('markdown of setters', () => {
	it('renders what statements need', () => {
		const root = render(
			'# Title\n\nA **bold** `x < y` and [a page](/problems/matmul).\n\n| a |\n| - |\n| 1 |'
		);
		expect(root.querySelector('h1, h2')).toBeNull();
		expect(root.querySelector('h3')?.textContent).toBe('Title');
		expect(root.querySelector('strong')?.textContent).toBe('bold');
		expect(root.querySelector('code')?.textContent).toBe('x < y');
		expect(root.querySelector('a')?.getAttribute('href')).toBe('/problems/matmul');
		expect(root.querySelector('td')?.textContent).toBe('1');
	});

	it.each([
		'<script>alert(1)</script>',
		'<img src=x onerror=alert(1)>',
		'<svg/onload=alert(1)>',
		'<a href="javascript:alert(1)">x</a>',
		'[x](javascript:alert(1))',
		'[x](JaVaScRiPt:alert(1))',
		'[x](java&#115;cript:alert(1))',
		'[x](data:text/html;base64,PHNjcmlwdD4=)',
		'[x](vbscript:msgbox(1))',
		'[x](//evil.example/)',
		'[x](http://evil.example/)',
		'![x](javascript:alert(1))',
		'![x](https://evil.example/pixel.gif)',
		'<javascript:alert(1)>',
		'[x]: javascript:alert(1)\n\n[x]',
		'<iframe srcdoc="<script>alert(1)</script>"></iframe>',
		'<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
		'`<img src=x onerror=alert(1)>`',
		'```html\n<script>alert(1)</script>\n```',
		'```"><img src=x onerror=alert(1)>\ncode\n```',
		'$<img src=x onerror=alert(1)>$',
		'$"><img src=x onerror=alert(1)>$',
		'$$\n"><script>alert(1)</script>\n$$',
		'<div style="position:fixed;inset:0">x</div>',
		'<form action="https://evil.example"><input name=a></form>',
		'[x](/a "onmouseover=alert(1) \\" onmouseover=alert(1)")'
	])('defuses %s', (attack) => {
		expect(dangers(render(attack))).toEqual([]);
	});

	it('keeps an attack as readable text', () => {
		expect(render('<script>alert(1)</script>').textContent?.trim()).toBe(
			'<script>alert(1)</script>'
		);
	});

	it('sends outside links to a page that cannot reach back', () => {
		const link = render('[docs](https://example.org/a)').querySelector('a');
		expect(link?.getAttribute('target')).toBe('_blank');
		expect(link?.getAttribute('rel')).toContain('noopener');
	});
});

describe('formulas', () => {
	const formulas = (source: string) =>
		[...render(source).querySelectorAll<HTMLElement>('span[data-tex]')].map((span) => [
			span.dataset.tex,
			span.dataset.display
		]);

	it('finds inline and display formulas', () => {
		expect(formulas('For $N$ and $\\frac{a_i}{b_i}$.')).toEqual([
			['N', 'false'],
			['\\frac{a_i}{b_i}', 'false']
		]);
		expect(formulas('text\n$$C_i = A_i$$\nmore')).toEqual([['C_i = A_i', 'true']]);
		expect(formulas('$$\na \\\\\nb\n$$')).toEqual([['a \\\\\nb', 'true']]);
		expect(formulas('so $$x*y*z$$ inline')).toEqual([['x*y*z', 'true']]);
	});

	it('leaves money, code and escaped dollars alone', () => {
		expect(formulas('It costs $5 and then $6.')).toEqual([]);
		expect(formulas('`$N$`')).toEqual([]);
		expect(formulas('\\$N$')).toEqual([]);
		expect(formulas('$ spaced $')).toEqual([]);
		expect(formulas('$$\nnever closed')).toEqual([]);
	});

	it('does not take underscores and stars in a formula for emphasis', () => {
		const root = render('$a_1 * b_2$ and $c_1 * d_2$');
		expect(root.querySelector('em')).toBeNull();
	});

	it('draws with KaTeX, and a wrong or hostile formula harms nothing', async () => {
		const root = render('$x^2$ $\\frac{$ $\\href{javascript:alert(1)}{x}$ $\\htmlData{a=b}{x}$');
		await drawMath(root);
		expect(root.querySelector('.katex')).not.toBeNull();
		expect(root.querySelector('a[href^="javascript"]')).toBeNull();
		expect(root.querySelector('[data-a]')).toBeNull();
	});
});
