// Each page's main act in a real browser over the made-up API, under the policy that is served.
// Needs `npm run build` first. The same acts against the real API are tested elsewhere.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, afterEach, before, describe, test } from 'node:test';

import { startMock } from '../mock/server.js';
import { launch, typeSource } from './browser.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const START_STATE = {
	signedIn: true,
	stepMs: 30,
	emptyBoard: false,
	drop: false,
	down: false,
	slowMs: 0
};

let mock;
let browser;
let context;
/** What pages said that they should not have: refused scripts, uncaught errors, dialogs. */
let complaints;

before(async () => {
	mock = await startMock();
	browser = await launch();
});
after(async () => {
	await browser?.close();
	mock?.close();
});
afterEach(async () => {
	await context?.close();
	Object.assign(mock.state, START_STATE);
});

async function open(path, { theme = 'light', width = 1440, height = 900 } = {}) {
	Object.assign(mock.state, { stepMs: START_STATE.stepMs });
	context = await browser.newContext({
		viewport: { width, height },
		colorScheme: theme,
		locale: 'en-GB'
	});
	complaints = [];
	const page = await context.newPage();
	page.setDefaultTimeout(10_000);
	page.on('pageerror', (error) => complaints.push(error.message));
	page.on('dialog', (dialog) => {
		complaints.push(`dialog: ${dialog.message()}`);
		void dialog.dismiss();
	});
	page.on('console', (message) => {
		if (/Content Security Policy/i.test(message.text())) complaints.push(message.text());
	});
	await page.goto(mock.url + path);
	return page;
}

const source = (verdict) => `// mock: ${verdict}
__global__ void k(const float* A, const float* B, float* C, int N) {}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    k<<<1, 256>>>(A, B, C, N);
}
`;
const editorText = async (page) =>
	(await page.getByTestId('editor').locator('.cm-line').allTextContents()).join('\n');

const fits = (locator) => locator.evaluate((node) => node.scrollWidth <= node.clientWidth);
const pageFits = (page) => fits(page.locator('html'));

async function judge(page, verdict, button = 'run') {
	await typeSource(page, source(verdict));
	await page.getByTestId(button).click();
	await page.locator(`[data-testid=verdict][data-verdict=${verdict}]`).waitFor();
}

const RULES = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] };

async function violations(page) {
	await page.waitForLoadState('networkidle');
	await page.evaluate(AXE);
	const found = await page.evaluate((rules) => window.axe.run(document, rules), RULES);
	return found.violations.flatMap((violation) =>
		violation.nodes.map((node) => `${violation.id}: ${node.target} ${node.failureSummary}`)
	);
}

describe('problem list', () => {
	test('finds a problem and opens it', async () => {
		const page = await open('/');
		await page.getByTestId('problems').waitFor();
		assert.equal(await page.getByTestId('problem-row').count(), 6);
		await page.getByTestId('search').fill('softmax');
		assert.equal(await page.getByTestId('problem-row').count(), 1);
		await page.getByTestId('search').fill('nothing like it');
		await page.getByTestId('list-none').getByRole('button').click();
		assert.equal(await page.getByTestId('problem-row').count(), 6);
		await page.locator('[data-slug=matmul] a').click();
		await page.getByTestId('editor').waitFor();
		assert.match(page.url(), /\/problems\/matmul$/);
		assert.deepEqual(complaints, []);
	});
});

describe('problem page', () => {
	test('a ranked submission runs through its phases to a score', async () => {
		const page = await open('/problems/vector_add');
		mock.state.stepMs = 120;
		await typeSource(page, source('accepted'));
		await page.getByTestId('submit').click();
		await page.locator('[data-testid=live][data-phase=checking]').waitFor();
		assert.equal(await page.getByTestId('run').isDisabled(), true);
		await page.locator('[data-testid=verdict][data-verdict=accepted]').waitFor();
		assert.equal(await page.getByTestId('score-value').textContent(), '~0.742');
		assert.match(await page.getByTestId('score').textContent(), /SOL \(modelled\)/);
		assert.equal(await page.getByTestId('shape-row').count(), 6);
		await page.locator('[data-shape=e_medium] [data-testid=shape-toggle]').click();
		assert.match(await page.getByTestId('counters').textContent(), /global load sectors/);
		assert.deepEqual(complaints, []);
	});

	test('a wrong answer opens at the shape that failed, with index and values', async () => {
		const page = await open('/problems/vector_add');
		await judge(page, 'wrong_answer');
		const mismatch = page.getByTestId('mismatch');
		assert.match(await page.getByTestId('printed').textContent(), /<b>A\[0\]<\/b>/);
		assert.match(await mismatch.textContent(), /\[4096\].*-1\.285339.*NaN/s);
		assert.match(
			await page.getByTestId('likely-cause').textContent(),
			/Outputs hold no zeros before a call.*cudaMemset\(C, 0, bytes\)/s
		);
		assert.equal(
			await page.locator('[data-testid=shape-row][data-verdict=wrong_answer]').count(),
			1
		);
	});

	test('a wrong answer fits its column; long numbers are short and whole in their title', async () => {
		const page = await open('/problems/vector_add');
		await judge(page, 'wrong_answer');
		const cell = page.getByTestId('mismatch').locator('td').nth(3);
		assert.equal(await cell.textContent(), '-0.1871234');
		assert.equal(await cell.getAttribute('title'), '-0.18712344765663147');
		const [pane, detail, traffic, toggle] = await page.evaluate(() => {
			const right = (selector) => document.querySelector(selector).getBoundingClientRect().right;
			return [
				'#panel-results',
				'tr.details .details',
				'td.value',
				'[data-testid=shape-toggle]'
			].map(right);
		});
		for (const edge of [detail, traffic, toggle]) assert.ok(edge <= pane, `${edge} > ${pane}`);
		assert.ok(await fits(page.locator('section.pane').last()));
	});

	test('edge and wrong shapes have no bar, and the page says why', async () => {
		const page = await open('/problems/vector_add');
		await judge(page, 'wrong_answer');
		assert.equal(await page.locator('[data-shape=edge_1] .bar').count(), 0);
		assert.equal(await page.locator('[data-shape=edge_4097] .bar').count(), 0);
		assert.equal(await page.locator('[data-shape=e_large] .bar').count(), 1);
		assert.match(await page.getByTestId('edge-note').textContent(), /do not count/);
	});

	test('the last result is announced while it loads, not denied', async () => {
		const page = await open('/problems/matmul');
		await judge(page, 'accepted');
		mock.state.slowMs = 600;
		await page.reload();
		await page.getByTestId('results-loading').waitFor();
		assert.equal(await page.getByTestId('results-empty').count(), 0);
		await page.getByTestId('verdict').waitFor();
		assert.equal(await page.getByTestId('results-loading').count(), 0);
	});

	test('a result of another source than the editor holds says so and loads it', async () => {
		const page = await open('/problems/softmax_1d');
		await judge(page, 'accepted');
		assert.equal(await page.getByTestId('other-source').count(), 0);
		await typeSource(page, '// another one');
		await page.getByText('Draft kept').waitFor();
		await page.waitForTimeout(500);
		await page.reload();
		await page.getByTestId('other-source-load').click();
		assert.match(await editorText(page), /mock: accepted/);
		assert.equal(await page.getByTestId('other-source').count(), 0);
	});

	test('on a phone a run scrolls to its result', async () => {
		const page = await open('/problems/vector_add', { width: 390, height: 844 });
		mock.state.stepMs = 100;
		await typeSource(page, source('accepted'));
		await page.getByTestId('run').click();
		await page.getByTestId('live').waitFor();
		const top = () =>
			page.evaluate(() => document.querySelector('.results').getBoundingClientRect().top);
		assert.ok((await top()) < 80, `progress at ${await top()}`);
		await page.getByTestId('verdict').waitFor();
		assert.ok(Math.abs(await top()) < 80, `result at ${await top()}`);
	});

	test('a formula wider than its column scrolls and can be reached', async () => {
		const page = await open('/problems/vector_add', { width: 390, height: 844 });
		const wide = page.locator('.katex-display[tabindex="0"]');
		await wide.waitFor();
		assert.equal(await wide.count(), 1);
		assert.ok((await pageFits(page)) === true);
	});

	test('the emulated device is counted, and its instructions are limited', async () => {
		const page = await open('/problems/vector_add');
		assert.match(await page.getByTestId('device').textContent(), /counted, not measured/);
		assert.equal(
			await page.getByTestId('limit-instructions').textContent(),
			'25\u202f000\u202f000'
		);
	});

	test('compile errors stand at their line in the editor', async () => {
		const page = await open('/problems/vector_add');
		await judge(page, 'compile_error');
		assert.equal(await page.getByTestId('diagnostic').count(), 2);
		await page.locator('.cm-lint-marker-error').waitFor();
		assert.equal(await page.locator('.cm-lintRange-error').count(), 1);
		await page.getByRole('button', { name: 'line 4, column 13' }).click();
		assert.equal(await page.locator('.cm-activeLine').textContent(), source('x').split('\n')[3]);
		// Hostile text in a message is text.
		assert.match(await page.getByTestId('diagnostics').textContent(), /<img src=x onerror/);
		assert.deepEqual(complaints, []);
	});

	test('statements draw formulas and run nothing', async () => {
		const page = await open('/problems/vector_add');
		await page.locator('.markdown .katex').first().waitFor();
		assert.match(await page.title(), /^Vector addition/);
		assert.equal(await page.locator('.markdown script, .markdown a[href^=javascript]').count(), 0);
		assert.deepEqual(complaints, []);
	});

	test('works by keyboard: run, leave the editor, move a splitter', async () => {
		const page = await open('/problems/vector_add');
		await typeSource(page, source('accepted'));
		await page.keyboard.press('Control+Enter');
		await page.getByTestId('verdict').waitFor();
		assert.match(await page.getByTestId('verdict').textContent(), /Practice run/);
		await page.getByTestId('editor').locator('.cm-content').focus();
		await page.keyboard.press('Escape');
		await page.keyboard.press('Tab');
		assert.equal(await page.evaluate(() => document.activeElement?.closest('.cm-editor')), null);
		const splitter = page.getByTestId('splitter-left');
		const before = Number(await splitter.getAttribute('aria-valuenow'));
		await splitter.focus();
		await page.keyboard.press('ArrowRight');
		assert.equal(Number(await splitter.getAttribute('aria-valuenow')), before + 2);
		await page.keyboard.press('Enter');
		assert.equal(Number(await splitter.getAttribute('aria-valuenow')), 31);
	});

	test('the ranked shortcut submits', async () => {
		const page = await open('/problems/vector_add');
		await typeSource(page, source('accepted'));
		await page.keyboard.press('Control+Shift+Enter');
		await page.getByTestId('verdict').waitFor();
		assert.match(await page.getByTestId('verdict').textContent(), /Ranked/);
	});

	test('a lost stream is resumed, a restart of the page too', async () => {
		const page = await open('/problems/vector_add');
		Object.assign(mock.state, { drop: true, stepMs: 250 });
		await typeSource(page, source('accepted'));
		await page.getByTestId('run').click();
		await page.locator('[data-testid=live][data-phase=checking]').waitFor();
		await page.reload();
		await page.locator('[data-testid=verdict][data-verdict=accepted]').waitFor();
		assert.match(await editorText(page), /mock: accepted/);
	});

	test('cancels', async () => {
		const page = await open('/problems/vector_add');
		mock.state.stepMs = 500;
		await typeSource(page, source('accepted'));
		await page.getByTestId('run').click();
		await page.locator('[data-testid=live][data-phase=queued]').waitFor();
		await page.getByTestId('cancel').click();
		await page.locator('[data-testid=verdict][data-verdict=cancelled]').waitFor();
		const said = await page.getByTestId('report').textContent();
		assert.match(said, /Stopped on request/);
		assert.doesNotMatch(said, /cancelled while queued|No report/);
		const head = page.getByTestId('verdict');
		assert.notEqual(await head.evaluate((node) => getComputedStyle(node).paddingLeft), '0px');
	});

	test('a reset can be taken back, and an earlier submission loaded', async () => {
		const page = await open('/problems/reduction');
		await judge(page, 'wrong_answer');
		await page.getByTestId('reset').click();
		assert.match(await editorText(page), /Your part/);
		await page.getByTestId('reset-undo').click();
		assert.match(await editorText(page), /mock: wrong_answer/);
		await judge(page, 'accepted');
		await page.getByTestId('tab-history').click();
		assert.equal(await page.getByTestId('history-row').count(), 2);
		await page.getByTestId('history-load').nth(1).click();
		await page.locator('[data-testid=verdict][data-verdict=wrong_answer]').waitFor();
		assert.match(await editorText(page), /mock: wrong_answer/);
	});

	test('a visitor is told how to sign in and loses nothing', async () => {
		const page = await open('/problems/vector_add');
		await typeSource(page, source('accepted'));
		mock.state.signedIn = false;
		await page.getByTestId('submit').click();
		await page.locator('[data-testid=failure][data-code=unauthenticated]').waitFor();
		assert.match(await page.getByTestId('failure').textContent(), /up --login-link/);
		assert.match(await editorText(page), /mock: accepted/);
		mock.state.signedIn = true;
		await page.getByTestId('submit').click();
		await page.getByTestId('verdict').waitFor();
	});

	test('refused input names code and request', async () => {
		const page = await open('/problems/vector_add');
		await typeSource(page, '   ');
		await page.getByTestId('run').click();
		await page.locator('[data-testid=failure][data-code=invalid_source]').waitFor();
		assert.match(await page.getByTestId('failure').textContent(), /Request\s*[0-9a-f-]{36}/);
	});
});

describe('compiled code', () => {
	const KERNEL = `__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        C[i] = A[i] + B[i];
}
__global__ void scale(float* C, int N) {
    C[threadIdx.x] *= 2;
}
extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<1, 256>>>(A, B, C, N);
}
// mock: accepted
`;

	async function openCode(page, wanted = '') {
		await typeSource(page, KERNEL + wanted);
		await page.getByTestId('run').click();
		await page.getByTestId('verdict').waitFor();
		await page.getByTestId('code-open').click();
	}
	const codeLine = (page, text) =>
		page.getByTestId('code-view').locator('.cm-line', { hasText: text });
	const sourceLine = (page, text) =>
		page.getByTestId('editor').locator('.cm-line', { hasText: text });
	const marked = (page, view) => page.getByTestId(view).locator('.cm-linked').allTextContents();

	test('is fetched when asked for, and a line of it marks its source and the other way round', async () => {
		const page = await open('/problems/vector_add');
		const asked = [];
		page.on('request', (request) => request.url().endsWith('/code') && asked.push(request.url()));
		await typeSource(page, KERNEL);
		await page.getByTestId('run').click();
		await page.getByTestId('verdict').waitFor();
		assert.equal(asked.length, 0);
		await page.getByTestId('code-open').click();
		await codeLine(page, 'ld.global.f32').waitFor();
		assert.equal(asked.length, 1);

		await codeLine(page, 'ld.global.f32').hover();
		await page.getByTestId('editor').locator('.cm-linked').waitFor();
		assert.deepEqual(await marked(page, 'editor'), ['        C[i] = A[i] + B[i];']);
		assert.equal((await marked(page, 'code-view')).length, 3);
		assert.match(await page.getByTestId('code-at').textContent(), /line 4/);

		await sourceLine(page, 'if (i < N)').hover();
		await codeLine(page, 'setp.ge').and(page.locator('.cm-linked')).waitFor();
		assert.deepEqual(await marked(page, 'code-view'), [
			'    setp.ge.s32 %p1, %r2, %r5;',
			'    @%p1 bra $L__BB0_2;'
		]);
		assert.deepEqual(complaints, []);
	});

	test('works by keyboard: carets on both sides, the chooser, the way to the source', async () => {
		const page = await open('/problems/vector_add');
		await openCode(page);
		await page.locator('[data-testid=code-part]:focus').waitFor();
		await page.keyboard.press('Tab');
		await page.keyboard.press('Tab');
		await codeLine(page, 'ld.global.f32').waitFor();
		for (let step = 0; step < 8; step += 1) await page.keyboard.press('ArrowDown');
		await page.getByTestId('editor').locator('.cm-linked').waitFor();
		assert.deepEqual(await marked(page, 'editor'), ['        C[i] = A[i] + B[i];']);
		await page.keyboard.press('Tab');
		await page.keyboard.press('Enter');
		assert.equal(
			await page.getByTestId('editor').locator('.cm-activeLine').textContent(),
			'        C[i] = A[i] + B[i];'
		);
		await page.getByTestId('editor').locator('.cm-content').focus();
		await page.keyboard.press('ArrowUp');
		await codeLine(page, 'setp.ge').and(page.locator('.cm-linked')).waitFor();
		await page.getByTestId('code-part').selectOption({ label: 'scale' });
		assert.equal(await codeLine(page, 'setp.ge').count(), 0);
		await page.getByTestId('code-close').focus();
		await page.keyboard.press('Enter');
		await page.locator('[data-testid=code-open]:focus').waitFor();
		assert.equal(await page.locator('.cm-tint').count(), 0);
	});

	test('machine code is a switch away, keeps the kernel and marks the same source', async () => {
		const page = await open('/problems/vector_add');
		await openCode(page);
		await page.getByTestId('code-part').selectOption({ label: 'scale' });
		const pressed = (form) => page.getByTestId(`code-${form}`).getAttribute('aria-pressed');
		assert.deepEqual([await pressed('ptx'), await pressed('sass')], ['true', 'false']);
		await page.getByTestId('code-sass').focus();
		await page.keyboard.press('Enter');
		await codeLine(page, 'FADD').waitFor();
		assert.deepEqual([await pressed('ptx'), await pressed('sass')], ['false', 'true']);
		const parts = page.getByTestId('code-part').locator('option');
		assert.deepEqual(await parts.allTextContents(), ['add', 'scale', 'everything']);
		assert.equal(await page.getByTestId('code-part').inputValue(), '1');
		await codeLine(page, 'FADD').hover();
		await page.getByTestId('editor').locator('.cm-linked').waitFor();
		assert.deepEqual(await marked(page, 'editor'), ['    C[threadIdx.x] *= 2;']);
		assert.equal(await codeLine(page, 'st.global').count(), 0);
		await page.getByTestId('code-ptx').click();
		await codeLine(page, 'st.global').waitFor();
		assert.equal(await page.getByTestId('code-part').inputValue(), '1');
		assert.deepEqual(complaints, []);
	});

	test('without machine code it says why, in both languages', async () => {
		const page = await open('/problems/vector_add');
		await openCode(page, '// mock-code: ptx');
		await page.getByTestId('code-sass').click();
		const said = page.getByTestId('code-no-sass');
		assert.match(await said.textContent(), /no machine code: disassembling took longer than 4 s\./);
		assert.equal(await page.getByTestId('code-part').count(), 0);
		await page.getByTestId('language').click();
		await said.filter({ hasText: '没有机器码' }).waitFor();
		await page.getByTestId('code-ptx').click();
		await codeLine(page, 'ld.global.f32').waitFor();
	});

	test('lines follow what is typed since, and new ones belong to nothing', async () => {
		const page = await open('/problems/vector_add');
		await openCode(page);
		await codeLine(page, 'ld.global.f32').waitFor();
		await page.getByTestId('editor').locator('.cm-content').focus();
		await page.keyboard.press('ControlOrMeta+Home');
		await page.keyboard.insertText('// new\n');
		await codeLine(page, 'ld.global.f32').hover();
		await page.getByTestId('editor').locator('.cm-linked').waitFor();
		assert.deepEqual(await marked(page, 'editor'), ['        C[i] = A[i] + B[i];']);
		await sourceLine(page, '// new').hover();
		await page.waitForFunction(() => document.querySelector('.cm-linked') === null);
	});

	test('stays open for the next judging, and says where there is none', async () => {
		const page = await open('/problems/vector_add');
		await openCode(page);
		await codeLine(page, 'ld.global.f32').waitFor();
		await typeSource(page, KERNEL.replace('scale', 'other') + '// mock-code: none');
		await page.getByTestId('run').click();
		await page.getByTestId('code-none').waitFor();
		await typeSource(page, KERNEL.replace('scale', 'third'));
		await page.getByTestId('run').click();
		await codeLine(page, 'ld.global.f32').waitFor();
		await page.getByTestId('code-part').selectOption({ label: 'third' });
	});

	test('twenty thousand lines are shown at once and scroll', async () => {
		const page = await open('/problems/vector_add', { width: 390, height: 844 });
		await openCode(page, '// mock-code: 20000');
		const begun = Date.now();
		await codeLine(page, 'ld.global.f32').first().waitFor();
		assert.ok(Date.now() - begun < 4_000, `${Date.now() - begun} ms`);
		assert.match(await page.getByTestId('code-cut').textContent(), /1.?234/);
		assert.ok((await page.getByTestId('code-view').locator('.cm-line').count()) < 500);
		const content = page.getByTestId('code-view').locator('.cm-content');
		await content.focus();
		await page.keyboard.press('ControlOrMeta+End');
		await codeLine(page, '}').last().waitFor();
		assert.equal(await pageFits(page), true);
	});

	test('a judging of its own page has it beside its source', async () => {
		const page = await open('/problems/vector_add');
		await openCode(page);
		await page.getByTestId('permalink').click();
		await page.waitForURL('**/judgings/*');
		await page.getByTestId('code-open').click();
		await codeLine(page, 'ld.global.f32').click();
		await page.getByTestId('editor').locator('.cm-linked').waitFor();
		assert.deepEqual(await marked(page, 'editor'), ['        C[i] = A[i] + B[i];']);
		const between = await page.evaluate(() => {
			const box = (id) => document.querySelector(`[data-testid=${id}]`).getBoundingClientRect();
			return box('code').top - box('editor').bottom;
		});
		assert.ok(between >= 0 && between < 100, `${between} px between them`);
	});

	for (const theme of ['light', 'dark']) {
		test(`has no barrier (axe) ${theme}`, async () => {
			const page = await open('/problems/vector_add', { theme });
			await openCode(page);
			await codeLine(page, 'ld.global.f32').click();
			await page.getByTestId('editor').locator('.cm-linked').waitFor();
			// Nothing may lie half under the row of tabs, which stays in place.
			await page
				.locator('section.pane')
				.last()
				.evaluate((pane) => pane.scrollTo(0, 0));
			assert.deepEqual(await violations(page), []);
		});
	}
});

describe('board and judging', () => {
	test('the board names its metric and marks mine', async () => {
		const page = await open('/problems/vector_add/board/emulated');
		await page.getByTestId('board').waitFor();
		assert.equal(await page.getByTestId('board-row').count(), 5);
		assert.match(await page.getByTestId('board-metric').textContent(), /not measured.*Left out/);
		const ranks = page.getByTestId('board-row').locator('.rank');
		assert.deepEqual(await ranks.allTextContents(), ['1', '2', '2', '4', '5']);
		assert.equal(await page.locator('tr.mine .you').count(), 1);
		assert.match(await page.getByTestId('board').textContent(), /<b>bold<\/b>/);
	});

	test('an empty board tells how to get on it', async () => {
		const page = await open('/problems/vector_add/board/h200');
		await page.getByTestId('board-empty').getByRole('link').click();
		await page.getByTestId('editor').waitFor();
	});

	test('a judging has a page of its own with its source', async () => {
		const page = await open('/problems/vector_add');
		await judge(page, 'compile_error');
		await page.getByTestId('permalink').click();
		await page.waitForURL('**/judgings/*');
		await page.locator('[data-testid=verdict][data-verdict=compile_error]').waitFor();
		await page.locator('.cm-lint-marker-error').waitFor();
	});
});

describe('everywhere', () => {
	test('what does not exist says so, and a service that is down can be asked again', async () => {
		const page = await open('/problems/nonsense');
		await page.locator('[data-testid=failure][data-code=unknown_problem]').waitFor();
		mock.state.down = true;
		await page.goto(mock.url);
		await page.getByTestId('offline').waitFor();
		mock.state.down = false;
		await page.getByTestId('offline').getByRole('button').click();
		await page.getByTestId('problems').waitFor();
		assert.equal(await page.getByTestId('offline').count(), 0);
	});

	test('a service that is lost on the way to a page does not answer, and is asked again', async () => {
		const page = await open('/');
		await page.getByTestId('problems').waitFor();
		await context.setOffline(true);
		await page.locator('[data-slug=matmul] a').click();
		const failure = page.locator('[data-testid=failure][data-code=offline]');
		await failure.waitFor();
		assert.match(await failure.textContent(), /does not answer/);
		await context.setOffline(false);
		await failure.getByRole('button').click();
		await page.getByTestId('editor').waitFor();
		assert.equal(await page.getByTestId('offline').count(), 0);
	});

	test('language and theme switch and stay', async () => {
		const page = await open('/');
		await page.getByTestId('language').click();
		await page.getByRole('link', { name: '向量加法' }).waitFor();
		await page.getByTestId('theme').click();
		await page.getByTestId('theme').click();
		await page.reload();
		await page.getByRole('link', { name: '向量加法' }).waitFor();
		assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
		assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-Hans');
	});

	for (const path of ['/', '/problems/vector_add', '/problems/vector_add/board/emulated']) {
		test(`${path} fits a phone`, async () => {
			const page = await open(path, { width: 360, height: 740 });
			await page.locator('main h1').first().waitFor();
			await page.waitForLoadState('networkidle');
			assert.equal(await pageFits(page), true);
		});
	}

	test('a wrong answer fits a phone, on the problem page and on its own', async () => {
		const page = await open('/problems/vector_add', { width: 390, height: 844 });
		await judge(page, 'wrong_answer');
		await page.getByTestId('mismatch').waitFor();
		assert.equal(await pageFits(page), true);
		await page.getByTestId('permalink').click();
		await page.waitForURL('**/judgings/*');
		await page.getByTestId('mismatch').waitFor();
		assert.equal(await pageFits(page), true);
	});
});

describe('accessibility (axe, WCAG 2.2 A and AA)', () => {
	for (const theme of ['light', 'dark']) {
		for (const path of ['/', '/problems/vector_add/board/emulated', '/problems/nonsense']) {
			test(`${path} ${theme}`, async () => {
				const page = await open(path, { theme });
				await page.locator('main h1, main [role=alert]').first().waitFor();
				assert.deepEqual(await violations(page), []);
			});
		}
		for (const verdict of ['accepted', 'wrong_answer', 'compile_error']) {
			test(`problem page with ${verdict} ${theme}`, async () => {
				const page = await open('/problems/vector_add', { theme });
				await judge(page, verdict);
				assert.deepEqual(await violations(page), []);
			});
		}
	}
});
