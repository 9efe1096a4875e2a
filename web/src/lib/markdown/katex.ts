// KaTeX with its style sheet, as one lazily loaded piece.

import 'katex/dist/katex.min.css';

import katex from 'katex';

export default katex;
