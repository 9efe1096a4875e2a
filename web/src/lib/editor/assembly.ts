// PTX for highlighting: comments, directives, instructions, registers, numbers. Nothing more than colours
// depends on it.

import { StreamLanguage, type StringStream } from '@codemirror/language';

interface State {
	/** Nothing but a label or a predicate has come on this line. */
	start: boolean;
}

export const assembly = StreamLanguage.define<State>({
	name: 'assembly',
	startState: () => ({ start: true }),
	token(stream, state) {
		if (stream.sol()) state.start = true;
		if (stream.eatSpace()) return null;
		const kind = token(stream, state);
		return kind;
	},
	languageData: { commentTokens: { line: '//' } }
});

function token(stream: StringStream, state: State): string | null {
	if (stream.match('//')) {
		stream.skipToEnd();
		return 'comment';
	}
	if (stream.match(/^\/\*.*?\*\//)) return 'comment';
	if (stream.match(/^"[^"]*"?/)) return 'string';
	if (stream.match(/^@!?%?\w+/)) return 'meta';
	if (stream.match(/^[$\w]+:/)) return 'meta';
	if (stream.match(/^%\w+(?:\.[xyzw])?/)) return 'variableName';
	if (stream.match(/^\.\w+/)) return state.start ? 'keyword' : 'typeName';
	if (stream.match(/^0[fFdDxX][0-9A-Fa-f]+|^-?\d[\d.eE]*/)) return 'number';
	if (state.start && stream.match(/^[a-z]\w*(?:\.[\w:]+)*/)) {
		state.start = false;
		return 'keyword';
	}
	if (stream.match(/^[$\w]+/)) return null;
	stream.next();
	return null;
}
