import staticAdapter from '@sveltejs/adapter-static';
import { vitePreprocess } from '@sveltejs/vite-plugin-svelte';

import { externaliseBootstrap } from './tools/externalise-bootstrap.js';

/**
 * The static adapter, followed by moving SvelteKit's inline start script into a file: the API serves
 * `default-src 'self'` as a header, under which no inline script may run, hashed or not.
 */
function adapter() {
	const inner = staticAdapter({ fallback: 'index.html', precompress: true });
	return {
		...inner,
		/** @param {import('@sveltejs/kit').Builder} builder */
		async adapt(builder) {
			await inner.adapt(builder);
			await externaliseBootstrap('build', 'index.html');
		}
	};
}

/** @type {import('@sveltejs/kit').Config} */
export default {
	preprocess: vitePreprocess(),
	compilerOptions: { runes: true },
	kit: {
		adapter: adapter(),
		// The same policy as the API's header, for hosts that serve the files without it.
		csp: {
			mode: 'hash',
			directives: {
				'default-src': ['self'],
				'script-src': ['self'],
				'style-src': ['self', 'unsafe-inline'],
				'img-src': ['self', 'data:'],
				'font-src': ['self'],
				'connect-src': ['self'],
				'object-src': ['none'],
				'base-uri': ['none'],
				'form-action': ['self']
			}
		},
		version: { pollInterval: 0 }
	}
};
