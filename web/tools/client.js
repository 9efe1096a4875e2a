// `npm run client [FILE|URL]`: writes src/lib/api/schema.d.ts from the API's OpenAPI document.
//
// Without an argument the document is the reviewed snapshot of the crate `api`; a running service's
// `http://127.0.0.1:8080/api/openapi.json` does as well. The result is committed.

import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import openapiTS, { astToString } from 'openapi-typescript';

const SNAPSHOTS = fileURLToPath(new URL('../../crates/api/tests/api/snapshots', import.meta.url));
const OUTPUT = fileURLToPath(new URL('../src/lib/api/schema.d.ts', import.meta.url));
const HEADER = `// Generated from the API's OpenAPI document by \`npm run client\`. Do not edit.\n\n`;

const document = JSON.parse(withoutSnapshotHeader(await read(process.argv[2] ?? snapshot())));
await writeFile(OUTPUT, HEADER + astToString(await openapiTS(document)));

function snapshot() {
	const name = readdirSync(SNAPSHOTS).find((file) => /openapi\.snap$/.test(file));
	if (!name) throw new Error(`no snapshot of the OpenAPI document in ${SNAPSHOTS}`);
	return join(SNAPSHOTS, name);
}

/** @param {string} place */
async function read(place) {
	if (/^https?:/.test(place)) return (await fetch(place)).text();
	return readFile(place, 'utf8');
}

/** A snapshot file starts with a few lines between `---`. @param {string} text */
function withoutSnapshotHeader(text) {
	return text.startsWith('---\n') ? text.slice(text.indexOf('\n---\n', 3) + 5) : text;
}
