import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vitest/config';

const api = process.env.LIGHTSPEED_URL ?? 'http://127.0.0.1:8080';

export default defineConfig({
	plugins: [sveltekit()],
	build: {
		// Fonts and pictures stay files: the served policy admits no data: URIs for them.
		assetsInlineLimit: 0
	},
	server: {
		proxy: {
			'/api': { target: api, changeOrigin: false },
			'/login': { target: api, changeOrigin: false }
		}
	},
	...(process.env.VITEST ? { resolve: { conditions: ['browser'] } } : {}),
	test: {
		environment: 'node',
		include: ['tests/unit/**/*.test.ts']
	}
});
