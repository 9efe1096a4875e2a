// The view of compiled code: read only, with the line of the source beside each line. CodeMirror draws only what
// is in sight, so that the largest listing costs what the smallest does.

import { defaultKeymap } from '@codemirror/commands';
import { search, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import {
	drawSelection,
	EditorView,
	highlightActiveLine,
	keymap,
	lineNumbers
} from '@codemirror/view';

import { assembly } from '$lib/editor/assembly';
import { linkedLines } from '$lib/editor/linked';
import { lightspeedTheme } from '$lib/editor/theme';

import type { Shown } from './listing';

export interface CodeViewOptions {
	parent: HTMLElement;
	label: string;
	shown: Shown;
	/** The line of the source under caret (`moves`) or mouse. */
	onPoint: (source: number | null, moves: boolean) => void;
}

export function createCodeView({ parent, label, shown, onPoint }: CodeViewOptions): EditorView {
	const { sourceLines } = shown;
	const widest = String(sourceLines.reduce((most: number, line) => Math.max(most, line ?? 0), 0));
	return new EditorView({
		parent,
		state: EditorState.create({
			doc: shown.text,
			extensions: [
				lineNumbers({
					// Asked for a line behind the last, it tells how wide the gutter must be.
					formatNumber: (line) =>
						line > sourceLines.length ? widest : String(sourceLines[line - 1] ?? '')
				}),
				drawSelection(),
				highlightActiveLine(),
				search({ top: true }),
				assembly,
				lightspeedTheme,
				linkedLines((line, moves) => {
					onPoint(line === null ? null : (sourceLines[line - 1] ?? null), moves);
				}),
				keymap.of([...searchKeymap, ...defaultKeymap]),
				EditorState.readOnly.of(true),
				// No keyboard of a phone opens over what cannot be typed into.
				EditorView.editable.of(false),
				EditorView.contentAttributes.of({
					'aria-label': label,
					'aria-readonly': 'true',
					tabindex: '0'
				})
			]
		})
	});
}
