// Builds the code editor. The component `Editor.svelte` owns its life; nothing else makes one.

import {
	autocompletion,
	closeBrackets,
	closeBracketsKeymap,
	completionKeymap
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, foldKeymap, indentOnInput, indentUnit } from '@codemirror/language';
import { type Diagnostic as Lint, lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { type Extension, Prec, EditorState } from '@codemirror/state';
import {
	drawSelection,
	EditorView,
	highlightActiveLine,
	highlightActiveLineGutter,
	highlightSpecialChars,
	keymap,
	lineNumbers
} from '@codemirror/view';

import type { Diagnostic } from '$lib/api/types';

import { cuda } from './cuda';
import { placeDiagnostics, rangeOf } from './diagnostics';
import { linkedLines, scrollWithin, showLinked } from './linked';
import { carry, lineNow, lineSubmitted, markSubmitted, sinceSubmitted } from './since';
import { lightspeedTheme } from './theme';

export interface EditorOptions {
	parent: HTMLElement;
	text: string;
	label: string;
	readOnly: boolean;
	onChange: (text: string) => void;
	onCursor: (line: number, column: number) => void;
	/** The line of the submitted text under caret (`moves`) or mouse; `null` for what is newer. */
	onPoint: (line: number | null, moves: boolean) => void;
	onRun: () => void;
	onSubmit: () => void;
}

export function createEditor(options: EditorOptions): EditorView {
	return new EditorView({
		parent: options.parent,
		state: EditorState.create({ doc: options.text, extensions: extensions(options) })
	});
}

/** Shows messages about the submitted text at their places in today's text. */
export function showDiagnostics(
	view: EditorView,
	diagnostics: readonly Diagnostic[],
	words: { instead: string }
): void {
	const since = view.state.field(sinceSubmitted);
	const lints = placeDiagnostics(since.submitted, diagnostics).flatMap((placed): Lint[] => {
		const range = carry(since, placed);
		if (range === null) return [];
		const hint = placed.hint === null ? '' : `\n${words.instead} ${placed.hint}`;
		// A string: CodeMirror makes a text node of it, whatever it holds.
		return [{ ...range, severity: placed.severity, message: placed.message + hint }];
	});
	view.dispatch(setDiagnostics(view.state, lints));
}

/** Puts the cursor at a place of the submitted text and scrolls there. */
export function goTo(view: EditorView, line: number, column: number | null): void {
	const since = view.state.field(sinceSubmitted);
	const range = rangeOf(since.submitted, line, column);
	if (range === null) return;
	const { from } = carry(since, range) ?? { from: Math.min(range.from, view.state.doc.length) };
	view.dispatch({
		selection: { anchor: from },
		effects: EditorView.scrollIntoView(from, { y: 'center' })
	});
	view.focus();
}

/** Colours lines of the submitted text, and marks one, at their places in today's text. */
export function showLink(
	view: EditorView,
	tints: ReadonlyMap<number, number>,
	marked: number | null
): void {
	const now = (line: number): number[] => lineNow(view.state, line);
	const today = [...tints].flatMap(([line, tint]) => now(line).map((at) => [at, tint] as const));
	showLinked(view, { tints: new Map(today), marked: marked === null ? [] : now(marked) });
}

/** Scrolls a line of the submitted text into the editor's window; the caret stays. */
export function scrollToLine(view: EditorView, line: number): void {
	const now = lineNow(view.state, line)[0];
	if (now !== undefined) scrollWithin(view, now);
}

/** Replaces everything, as one step that Undo takes back. */
export function replaceText(view: EditorView, text: string): void {
	view.dispatch({
		changes: { from: 0, to: view.state.doc.length, insert: text },
		selection: { anchor: 0 },
		effects: EditorView.scrollIntoView(0)
	});
}

export function noteSubmitted(view: EditorView): void {
	view.dispatch(setDiagnostics(view.state, []), { effects: markSubmitted.of(null) });
}

function extensions(options: EditorOptions): Extension[] {
	return [
		lintGutter(),
		lineNumbers(),
		highlightActiveLineGutter(),
		highlightSpecialChars(),
		history(),
		drawSelection(),
		indentUnit.of('    '),
		indentOnInput(),
		bracketMatching(),
		closeBrackets(),
		autocompletion({ activateOnTyping: true, icons: false }),
		highlightActiveLine(),
		highlightSelectionMatches(),
		search({ top: true }),
		cuda(),
		lightspeedTheme,
		sinceSubmitted,
		actions(options),
		pointed(options),
		keymap.of([
			...closeBracketsKeymap,
			...defaultKeymap,
			...searchKeymap,
			...historyKeymap,
			...foldKeymap,
			...completionKeymap,
			indentWithTab
		]),
		EditorView.contentAttributes.of({
			'aria-label': options.label,
			tabindex: '0',
			spellcheck: 'false',
			autocorrect: 'off',
			autocapitalize: 'off'
		}),
		EditorState.readOnly.of(options.readOnly),
		EditorState.tabSize.of(4),
		listener(options)
	];
}

/** Before CodeMirror's own Mod-Enter (insert a line). */
function actions({ onRun, onSubmit }: EditorOptions): Extension {
	return Prec.highest(
		keymap.of([
			{
				key: 'Mod-Enter',
				run: () => {
					onRun();
					return true;
				},
				shift: () => {
					onSubmit();
					return true;
				}
			}
		])
	);
}

function pointed({ onPoint }: EditorOptions): Extension {
	return linkedLines((line, moves, view) => {
		onPoint(line === null ? null : lineSubmitted(view.state, line), moves);
	});
}

function listener({ onChange, onCursor }: EditorOptions): Extension {
	return EditorView.updateListener.of((update) => {
		if (update.docChanged) onChange(update.state.doc.toString());
		if (update.docChanged || update.selectionSet) {
			const head = update.state.selection.main.head;
			const line = update.state.doc.lineAt(head);
			onCursor(line.number, head - line.from + 1);
		}
	});
}
