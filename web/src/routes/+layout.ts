// A single-page app: every page is drawn in the browser, from the one built file.
export const ssr = false;
export const prerender = false;
