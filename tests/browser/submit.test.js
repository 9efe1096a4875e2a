// A person signs in by the printed link, submits a wrong kernel, a broken one and a right one, and finds
// the right one on the board. Real API, real worker, real Chromium; started by tests/tests/browser.rs.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';

const root = process.env.LIGHTSPEED_ROOT;
const base = process.env.LIGHTSPEED_URL;
const require = createRequire(path.join(root, 'web', 'package.json'));
const { chromium } = require('playwright-core');

const pictures = process.env.LIGHTSPEED_PICTURES;
const source = (file) => readFileSync(path.join(root, 'problems', 'vector_add', file), 'utf8');
/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('playwright-core').Page} */
let page;
const complaints = [];

before(async () => {
	browser = await chromium.launch({
		executablePath: process.env.LIGHTSPEED_CHROMIUM ?? '/usr/bin/chromium',
		args: [
			'--no-sandbox',
			'--disable-gpu',
			'--disable-quic',
			'--no-first-run',
			'--disable-background-networking',
			'--disable-component-update',
			'--disable-sync'
		]
	});
	page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
	page.setDefaultTimeout(60_000);
	page.on('pageerror', (error) => complaints.push(String(error)));
	page.on('console', (message) => {
		if (message.type() === 'error') complaints.push(message.text());
	});
});

after(async () => {
	await browser?.close();
});

const hook = (name) => page.locator(`[data-testid="${name}"]`);

async function write(text) {
	await hook('editor').locator('.cm-content').click();
	await page.keyboard.press('Control+A');
	await page.keyboard.insertText(text);
}

async function verdictAfter(press) {
	const before = await verdictLink();
	await hook(press).click();
	await page.waitForFunction(
		(old) => {
			const link = document.querySelector('[data-testid="permalink"]')?.getAttribute('href');
			return document.querySelector('[data-testid="verdict"]') && link && link !== old;
		},
		before,
		{ timeout: 60_000 }
	);
	return hook('verdict').first().getAttribute('data-verdict');
}

async function verdictLink() {
	const link = hook('permalink');
	return (await link.count()) > 0 ? link.first().getAttribute('href') : null;
}

async function picture(name) {
	if (!pictures) return;
	mkdirSync(pictures, { recursive: true });
	await page.screenshot({ path: path.join(pictures, `${name}.png`) });
}

test('the printed link signs in', async () => {
	await page.goto(base + process.env.LIGHTSPEED_LOGIN_PATH);
	await page.goto(`${base}/`);
	await hook('problem-row').first().waitFor();
	assert.equal(await hook('sign-in').count(), 0, 'no sign-in is asked for');
	const slugs = await hook('problem-row').evaluateAll((rows) => rows.map((row) => row.dataset.slug));
	assert.deepEqual(
		[...slugs].sort(),
		[
			'fused_add_rms_norm',
			'matmul',
			'matrix_transpose',
			'reduction',
			'softmax_1d',
			'vector_add'
		]
	);
	await picture('list');
});

test('a wrong kernel is told where it is wrong', async () => {
	await page.goto(`${base}/problems/vector_add`);
	await hook('editor').waitFor();
	await write(source('starter.cu'));
	assert.equal(await verdictAfter('submit'), 'wrong_answer');
	assert.ok((await hook('shape-row').count()) > 0, 'a row for each shape');
	await picture('wrong');
});

test('a compile error stands at its line in the editor', async () => {
	const broken = source('baseline.cu').replace(/__global__ void/, '__global__ viod');
	await write(broken);
	assert.equal(await verdictAfter('run'), 'compile_error');
	const line = 1 + broken.slice(0, broken.indexOf('viod')).split('\n').length - 1;
	const first = hook('diagnostic').first();
	assert.equal(await first.getAttribute('data-line'), String(line));
	assert.ok((await page.locator('.cm-lintRange-error').count()) > 0, 'underlined in the editor');
	await picture('compile-error');
});

test('a right kernel is accepted and stands on the emulated board', async () => {
	await write(source('baseline.cu'));
	assert.equal(await verdictAfter('submit'), 'accepted');
	assert.equal(await hook('score').first().getAttribute('data-metric'), 'modelled_sol');
	await picture('accepted');
	await hook('code-open').click();
	const store = hook('code-view').locator('.cm-line', { hasText: 'st.global' }).first();
	await store.click();
	const from = hook('editor').locator('.cm-linked');
	await from.waitFor();
	assert.match(await from.textContent(), /=.*;/, 'the line that stores');
	await picture('code');
	await page.goto(`${base}/problems/vector_add/board/emulated`);
	const row = hook('board-row').first();
	await row.waitFor();
	assert.equal(await row.getAttribute('data-rank'), '1');
	assert.equal(await row.getAttribute('data-user'), 'tester');
	await picture('board');
});

test('the pages had nothing to complain of', () => {
	assert.deepEqual(complaints, []);
});
