// The editor's look. All colours are the page's custom properties, so that it follows light and dark.

import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

import { TINTS } from './tints';

const look = EditorView.theme({
	'&': { height: '100%', backgroundColor: 'var(--sheet)', color: 'var(--ink)' },
	'&.cm-focused': { outline: 'none' },
	'.cm-scroller': {
		fontFamily: 'var(--mono)',
		fontSize: 'var(--code-size)',
		lineHeight: '1.55',
		overflow: 'auto'
	},
	'.cm-content': { caretColor: 'var(--accent)', padding: '10px 0' },
	'.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
	'&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
		{ backgroundColor: 'var(--select)' },
	'.cm-gutters': {
		backgroundColor: 'var(--sheet)',
		color: 'var(--ink-3)',
		borderRight: '1px solid var(--rule)',
		fontVariantNumeric: 'tabular-nums'
	},
	'.cm-activeLine': { backgroundColor: 'var(--active-line)' },
	'.cm-activeLineGutter': { backgroundColor: 'var(--active-line)', color: 'var(--ink)' },
	'.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
		backgroundColor: 'transparent',
		outline: '1px solid var(--accent)'
	},
	'.cm-lineNumbers .cm-gutterElement': { padding: '0 10px 0 2px' },
	'.cm-gutter-lint': { width: '1.1em' },
	'.cm-tooltip': {
		backgroundColor: 'var(--sheet)',
		border: '1px solid var(--rule-strong)',
		color: 'var(--ink)',
		boxShadow: 'var(--shadow)'
	},
	'.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: 'var(--code-size)' },
	'.cm-tooltip-autocomplete > ul > li[aria-selected]': {
		backgroundColor: 'var(--ink)',
		color: 'var(--sheet)'
	},
	'.cm-diagnostic': {
		fontFamily: 'var(--sans)',
		fontSize: '0.875rem',
		padding: '6px 10px',
		borderLeftWidth: '3px'
	},
	'.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
	'.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
	'.cm-diagnostic-info': { borderLeftColor: 'var(--accent)' },
	'.cm-lintRange-error': squiggle('var(--bad)'),
	'.cm-lintRange-warning': squiggle('var(--warn)'),
	'.cm-lintRange-info': squiggle('var(--accent)'),
	'.cm-lint-marker': { width: '0.85em', height: '0.85em', content: '""' },
	'.cm-lint-marker-error': mark('var(--bad)', 'polygon(50% 4%, 100% 96%, 0 96%)'),
	'.cm-lint-marker-warning': mark('var(--warn)', 'polygon(50% 0, 100% 50%, 50% 100%, 0 50%)'),
	'.cm-lint-marker-info': mark('var(--accent)', 'circle(42%)'),
	'.cm-panels': { backgroundColor: 'var(--paper)', color: 'var(--ink)' },
	'.cm-tint': {
		boxShadow: 'inset 3px 0 0 var(--tint)',
		backgroundColor: 'color-mix(in srgb, var(--tint) 6%, transparent)'
	},
	...Object.fromEntries(
		Array.from({ length: TINTS }, (_, n) => [`.cm-tint-${n}`, { '--tint': `var(--tint-${n})` }])
	),
	'.cm-line.cm-linked': { backgroundColor: 'var(--linked)' },
	'.cm-searchMatch': { backgroundColor: 'var(--limit-soft)' },
	'.cu-qualifier': { color: 'var(--syntax-cuda)', fontWeight: '600' },
	'.cu-variable': { color: 'var(--syntax-cuda)' },
	'.cu-launch': { color: 'var(--syntax-cuda)', fontWeight: '600' },
	'.cu-type': { color: 'var(--syntax-type)' },
	'.cu-function': { color: 'var(--syntax-call)' },
	// The marks lie outside the grammar's own spans or inside them; either way theirs is the colour.
	'.cu-qualifier *, .cu-variable *, .cu-launch *, .cu-type *, .cu-function *': {
		color: 'inherit'
	}
});

const colours = HighlightStyle.define([
	{ tag: tags.comment, color: 'var(--syntax-comment)', fontStyle: 'italic' },
	{
		tag: [tags.keyword, tags.controlKeyword, tags.definitionKeyword, tags.modifier],
		color: 'var(--syntax-keyword)'
	},
	{ tag: [tags.typeName, tags.standard(tags.typeName)], color: 'var(--syntax-type)' },
	{ tag: [tags.number, tags.bool, tags.null], color: 'var(--syntax-number)' },
	{ tag: [tags.string, tags.character, tags.special(tags.string)], color: 'var(--syntax-string)' },
	{ tag: [tags.processingInstruction, tags.meta, tags.macroName], color: 'var(--syntax-macro)' },
	{ tag: tags.function(tags.variableName), color: 'var(--syntax-call)' },
	{ tag: [tags.operator, tags.punctuation, tags.bracket], color: 'var(--ink-2)' }
]);

export const lightspeedTheme: Extension = [look, syntaxHighlighting(colours)];

function squiggle(colour: string): Record<string, string> {
	return {
		backgroundImage: 'none',
		textDecoration: `underline wavy ${colour} 1.5px`,
		textDecorationSkipInk: 'none',
		textUnderlineOffset: '3px'
	};
}

function mark(colour: string, shape: string): Record<string, string> {
	return { backgroundColor: colour, clipPath: shape, content: '""' };
}
