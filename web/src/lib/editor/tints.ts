/** Colours that tell neighbouring source lines apart; the page's stylesheet has as many. */
export const TINTS = 6;
