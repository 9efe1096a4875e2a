// Pictures of every page in both themes and languages, for looking at. `node tests/pages/shoot.js DIR`

import { mkdir } from 'node:fs/promises';

import { startMock } from '../mock/server.js';
import { launch, typeSource } from './browser.js';

const folder = process.argv[2] ?? 'build/pictures';
await mkdir(folder, { recursive: true });
const mock = await startMock();
const browser = await launch();
const only = process.argv[3];

async function shot(
	name,
	{ theme = 'light', language = 'en', width = 1440, height = 900, full = false },
	act
) {
	if (only && !name.includes(only)) return;
	const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme });
	await context.addInitScript(
		(lang) => localStorage.setItem('lightspeed.language', lang),
		language
	);
	const page = await context.newPage();
	page.on('console', (message) => {
		if (message.type() === 'error') console.log(`${name}: ${message.text()}`);
	});
	page.on('pageerror', (error) => console.log(`${name}: ${error.message}`));
	await act(page);
	await page.waitForTimeout(350);
	await page.screenshot({ path: `${folder}/${name}.png`, fullPage: full });
	await context.close();
}

const open = (path) => (page) => page.goto(mock.url + path, { waitUntil: 'networkidle' });

async function judged(page, verdict, mode = 'submit') {
	await page.goto(`${mock.url}/problems/vector_add`, { waitUntil: 'networkidle' });
	await typeSource(page, sample(verdict));
	await page.getByTestId(mode).click();
	await page.getByTestId('verdict').waitFor();
}

async function showCode(page) {
	await judged(page, 'accepted', 'run');
	await page.getByTestId('code-open').click();
	const line = page.getByTestId('code-view').locator('.cm-line', { hasText: 'add.f32' });
	await line.click();
	await page.getByTestId('code-part').scrollIntoViewIfNeeded();
}

function sample(verdict) {
	return `// mock: ${verdict}
__global__ void vector_add(const float* A, const float* B,
                           float* C, int N) {
    int i = ${verdict === 'compile_error' ? 'blockIdxx' : 'blockIdx'}.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];  // one element a thread
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    const int threads = 256;
    dim3 grid((N + threads - 1) / threads);
    vector_add<<<grid, threads>>>(A, B, C, N);
    cudaDeviceSynchronize();
}
`;
}

for (const theme of ['light', 'dark']) {
	await shot(`list-${theme}`, { theme, full: true }, open('/'));
	await shot(`problem-accepted-${theme}`, { theme }, (page) => judged(page, 'accepted'));
	await shot(`problem-compile-${theme}`, { theme }, (page) => judged(page, 'compile_error', 'run'));
	await shot(`board-${theme}`, { theme }, open('/problems/vector_add/board/emulated'));
}
for (const theme of ['light', 'dark']) {
	for (const width of [1440, 390]) {
		const view = { theme, width, height: width === 390 ? 844 : 900 };
		await shot(`code-${theme}-${width}`, view, showCode);
	}
}
await shot('code-zh', { language: 'zh' }, showCode);
await shot('problem-wrong', {}, (page) => judged(page, 'wrong_answer', 'run'));
await shot('problem-zh', { language: 'zh' }, (page) => judged(page, 'accepted'));
await shot('list-zh', { language: 'zh' }, open('/'));
await shot('problem-empty', {}, open('/problems/matmul'));
await shot('history', {}, async (page) => {
	await open('/problems/vector_add')(page);
	await page.getByTestId('tab-history').click();
});
await shot('judging', { full: true }, async (page) => {
	await open('/problems/vector_add')(page);
	await page.getByTestId('permalink').click();
	await page.waitForURL('**/judgings/**');
	await page.getByTestId('verdict').waitFor();
});
await shot('board-empty', {}, open('/problems/vector_add/board/h200'));
await shot('not-found', {}, open('/problems/nonsense'));
await shot('phone-list', { width: 390, height: 844, full: true }, open('/'));
await shot('phone-problem', { width: 390, height: 844, full: true }, (page) =>
	judged(page, 'wrong_answer')
);
await shot('phone-problem-view', { width: 390, height: 844, theme: 'dark' }, (page) =>
	judged(page, 'accepted')
);
mock.state.stepMs = 700;
await shot('live', {}, async (page) => {
	await open('/problems/reduction')(page);
	await page.getByTestId('run').click();
	await page.waitForTimeout(3300);
});
mock.state.stepMs = 60;
mock.state.signedIn = false;
await shot('signed-out', {}, open('/problems/vector_add'));
mock.state.down = true;
await shot('down', {}, open('/'));

await browser.close();
mock.close();
