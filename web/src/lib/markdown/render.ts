// Statements to DOM. The text was written by a setter and is not trusted.
//
// Three walls: markdown-it passes no HTML through; DOMPurify then admits a short list of tags and
// attributes; formulas travel as text and KaTeX draws them last, with `trust` off. The result is a
// DOM fragment, never a string, so that nothing can be parsed a second time.

import createDOMPurify from 'dompurify';
import MarkdownIt from 'markdown-it';

import { mathRules } from './math';

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false }).use(mathRules);

const ALLOWED_TAGS = [
	...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre', 'code', 'span'],
	...['strong', 'em', 's', 'ul', 'ol', 'li', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td']
];
const ALLOWED_ATTR = ['href', 'title', 'start', 'data-tex', 'data-display'];
/** Pages of this site, anchors, and https. No `javascript:`, `data:`, or protocol-relative address. */
const ALLOWED_URI = /^(?:https:\/\/|#|\/(?!\/))/i;

const purifier = createDOMPurify(window);
purifier.addHook('afterSanitizeAttributes', (node) => {
	if (node.tagName === 'A') {
		node.setAttribute('rel', 'noopener noreferrer nofollow');
		if (/^https:/i.test(node.getAttribute('href') ?? '')) node.setAttribute('target', '_blank');
	}
});

/** Markdown to a fragment that is safe to insert. Formulas are still text: see `drawMath`. */
export function renderMarkdown(source: string): DocumentFragment {
	const html = markdown.render(source);
	const fragment = purifier.sanitize(html, {
		ALLOWED_TAGS,
		ALLOWED_ATTR,
		ALLOWED_URI_REGEXP: ALLOWED_URI,
		ADD_URI_SAFE_ATTR: ['data-tex', 'data-display', 'start'],
		ALLOW_ARIA_ATTR: false,
		ALLOW_DATA_ATTR: false,
		RETURN_DOM_FRAGMENT: true
	});
	lowerHeadings(fragment);
	return fragment;
}

/** Draws every formula below `root`. KaTeX is loaded only when there is one. */
export async function drawMath(root: ParentNode): Promise<void> {
	const formulas = root.querySelectorAll<HTMLElement>('span[data-tex]');
	if (formulas.length === 0) return;
	const { default: katex } = await import('./katex');
	for (const element of formulas) {
		katex.render(element.dataset.tex ?? '', element, {
			displayMode: element.dataset.display === 'true',
			throwOnError: false,
			trust: false,
			strict: 'ignore',
			maxSize: 20,
			maxExpand: 200
		});
	}
}

/** The page has its own h1: a statement's headings start at the third level. */
function lowerHeadings(fragment: DocumentFragment): void {
	for (const heading of fragment.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
		const level = Math.min(6, Number(heading.tagName.slice(1)) + 1);
		const lowered = document.createElement(`h${Math.max(3, level)}`);
		lowered.append(...heading.childNodes);
		heading.replaceWith(lowered);
	}
}
