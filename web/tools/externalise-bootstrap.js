// Build step: moves the one inline script of the built page into a file of its own, so that the page
// works under `script-src 'self'` with no hash and no nonce. Fails the build if any inline script is left.

import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const INLINE_SCRIPT = /<script>([\s\S]*?)<\/script>/g;

/**
 * @param {string} folder the build folder
 * @param {string} page file name of the page in it
 */
export async function externaliseBootstrap(folder, page) {
	const path = join(folder, page);
	const html = await readFile(path, 'utf8');
	/** @type {{ name: string, text: string }[]} */
	const scripts = [];
	const rewritten = html.replace(INLINE_SCRIPT, (_, /** @type {string} */ text) => {
		const digest = createHash('sha256').update(text).digest('hex').slice(0, 12);
		const name = `_app/immutable/start.${digest}.js`;
		scripts.push({ name, text });
		return `<script src="/${name}"></script>`;
	});
	if (scripts.length === 0)
		throw new Error(`${path}: no start script found; has SvelteKit changed?`);
	if (/<script(?![^>]*\ssrc=)[^>]*>/.test(rewritten)) {
		throw new Error(
			`${path}: an inline script is left; the Content-Security-Policy would block it`
		);
	}
	for (const { name, text } of scripts) await writeFile(join(folder, name), text);
	await writeFile(path, rewritten);
	// Compressed beside it by the adapter, before this step.
	for (const ending of ['.br', '.gz']) await rm(path + ending, { force: true });
}
