import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

import svelteConfig from './svelte.config.js';

export default ts.config(
	{ ignores: ['build/', '.svelte-kit/', 'node_modules/', 'src/lib/api/schema.d.ts'] },
	js.configs.recommended,
	...ts.configs.strict,
	...svelte.configs.recommended,
	...svelte.configs.prettier,
	{
		languageOptions: { globals: { ...globals.browser, ...globals.node } },
		rules: {
			'no-undef': 'off',
			'@typescript-eslint/no-unused-vars': [
				'error',
				{ argsIgnorePattern: '^_', varsIgnorePattern: '^_' }
			],
			eqeqeq: ['error', 'always', { null: 'ignore' }],
			'no-console': 'error',
			// Text is text: nothing in this app may turn a string into markup behind the sanitiser's back.
			'no-restricted-properties': [
				'error',
				{ property: 'innerHTML', message: 'Use text nodes, or markdown/render.ts.' },
				{ property: 'outerHTML', message: 'Use text nodes, or markdown/render.ts.' }
			],
			'svelte/no-at-html-tags': 'error',
			// The API serves the app at the root of its origin, never below a path.
			'svelte/no-navigation-without-resolve': 'off'
		}
	},
	{
		files: ['**/*.svelte', '**/*.svelte.ts', '**/*.svelte.js'],
		languageOptions: {
			parserOptions: {
				projectService: true,
				extraFileExtensions: ['.svelte'],
				parser: ts.parser,
				svelteConfig
			}
		}
	},
	{ files: ['tests/**', 'tools/**'], rules: { 'no-console': 'off' } }
);
