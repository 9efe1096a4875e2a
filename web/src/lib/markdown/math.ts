// markdown-it rules for `$inline$` and `$$display$$` formulas. They emit the TeX as an attribute of an
// empty-looking span; nothing is drawn here.

import type { MarkdownIt, StateBlock, StateInline } from 'markdown-it';

const DOLLAR = 0x24;
const BACKSLASH = 0x5c;

export function mathRules(markdown: MarkdownIt): void {
	markdown.inline.ruler.after('escape', 'math_inline', inlineMath);
	markdown.block.ruler.after('blockquote', 'math_block', blockMath, {
		alt: ['paragraph', 'reference', 'blockquote', 'list']
	});
	const escape = markdown.utils.escapeHtml;
	const span = (tex: string, display: boolean): string =>
		`<span data-tex="${escape(tex)}" data-display="${display}">${escape(tex)}</span>`;
	markdown.renderer.rules.math_inline = (tokens, index) =>
		span(tokens[index]?.content ?? '', false);
	markdown.renderer.rules.math_display = (tokens, index) =>
		span(tokens[index]?.content ?? '', true);
	markdown.renderer.rules.math_block = (tokens, index) =>
		`<p>${span(tokens[index]?.content ?? '', true)}</p>\n`;
}

/** `$x$`: no blank just inside the dollars, no digit behind the closing one (so `$5 and $6` is text). */
function inlineMath(state: StateInline, silent: boolean): boolean {
	const { src, pos, posMax } = state;
	if (src.charCodeAt(pos) !== DOLLAR) return false;
	const display = src.charCodeAt(pos + 1) === DOLLAR;
	const width = display ? 2 : 1;
	const start = pos + width;
	const end = closingDollar(src, start, posMax, width);
	if (end < 0) return false;
	const tex = src.slice(start, end);
	if (tex.trim() === '') return false;
	if (!display && (/^\s|\s$/.test(tex) || /\d/.test(src.charAt(end + 1)))) return false;
	if (!silent) {
		state.push(display ? 'math_display' : 'math_inline', 'math', 0).content = tex.trim();
	}
	state.pos = end + width;
	return true;
}

function closingDollar(src: string, from: number, max: number, width: number): number {
	for (let at = from; at < max; at += 1) {
		if (src.charCodeAt(at) === BACKSLASH) at += 1;
		else if (src.charCodeAt(at) === DOLLAR && (width === 1 || src.charCodeAt(at + 1) === DOLLAR)) {
			return at;
		}
	}
	return -1;
}

/** A paragraph that starts with `$$`, up to the line that ends with `$$`. */
function blockMath(
	state: StateBlock,
	startLine: number,
	endLine: number,
	silent: boolean
): boolean {
	const lineAt = (line: number): string =>
		state.src.slice(
			(state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0),
			state.eMarks[line] ?? state.src.length
		);
	const first = lineAt(startLine);
	if (!first.startsWith('$$')) return false;
	const lines: string[] = [];
	let line = startLine;
	let text = first.slice(2);
	while (!text.trimEnd().endsWith('$$')) {
		lines.push(text);
		line += 1;
		if (line >= endLine || lineAt(line).trim() === '') return false;
		text = lineAt(line);
	}
	lines.push(text.trimEnd().slice(0, -2));
	const tex = lines.join('\n').trim();
	if (tex === '' || tex.includes('$$')) return false;
	if (silent) return true;
	const token = state.push('math_block', 'math', 0);
	token.content = tex;
	token.block = true;
	token.map = [startLine, line + 1];
	state.line = line + 1;
	return true;
}
