// A stand-in for the API over the built files, for page tests and pictures. Development only.
//
//   node tests/mock/server.js [port]        serves web/build and a made-up API on 127.0.0.1
//
// A source that holds `// mock: wrong_answer` (or another verdict) is judged so. `PUT /mock/state` with
// {"signedIn": false, "stepMs": 300, "drop": true} changes how the server behaves.

import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

import { code } from './code.js';
import { ACCOUNT, board, detail, devices, report, summaries } from './data.js';

const BUILD = fileURLToPath(new URL('../../build/', import.meta.url));
const TYPES = {
	'.html': 'text/html; charset=utf-8',
	'.js': 'text/javascript; charset=utf-8',
	'.css': 'text/css; charset=utf-8',
	'.svg': 'image/svg+xml',
	'.woff2': 'font/woff2',
	'.woff': 'font/woff',
	'.json': 'application/json'
};
/** The strictest policy the app must work under. */
const POLICY =
	"default-src 'self'; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'";

export function startMock(port = 0) {
	const state = {
		signedIn: true,
		stepMs: 60,
		emptyBoard: false,
		drop: false,
		down: false,
		slowMs: 0
	};
	/** @type {Map<string, any>} */
	const submissions = new Map();
	let made = 0;

	function newId(kind) {
		made += 1;
		const tail = String(made).padStart(10, '0');
		return `0190c000-000${kind}-7000-8000-00${tail}`;
	}

	function create(body) {
		const verdict = /\/\/ mock: (\w+)/.exec(body.source)?.[1] ?? 'accepted';
		const sha = createHash('sha256').update(body.source).digest('hex');
		const submission = {
			submission_id: newId(1),
			judging_id: newId(2),
			problem: { slug: body.problem, version: 1 },
			device: body.device,
			mode: body.mode,
			source: body.source,
			source_sha256: sha,
			created_at: new Date().toISOString(),
			wanted: verdict,
			events: [],
			listeners: new Set(),
			status: 'queued',
			report: null,
			verdict: null
		};
		submissions.set(submission.submission_id, submission);
		void judge(submission);
		return submission;
	}

	async function judge(submission) {
		const { judging_id } = submission;
		const step = () => new Promise((done) => setTimeout(done, state.stepMs));
		emit(submission, { event: 'status', judging_id, status: 'queued', attempt: 0 });
		await step();
		await step();
		if (submission.status === 'done') return;
		submission.status = 'running';
		emit(submission, { event: 'status', judging_id, status: 'running', attempt: 1 });
		emit(submission, { event: 'phase', judging_id, attempt: 1, phase: 'compiling' });
		await step();
		emit(submission, { event: 'phase', judging_id, attempt: 1, phase: 'checking' });
		for (let done = 1; done <= 6; done += 1) {
			if (submission.status === 'done') return;
			emit(submission, { event: 'progress', judging_id, phase: 'checking', done, total: 6 });
			if (state.drop && done === 3) for (const listener of submission.listeners) listener.destroy();
			await step();
		}
		finish(submission, submission.wanted);
	}

	function finish(submission, verdict) {
		if (submission.status === 'done') return;
		const made = report(verdict, submission.mode, submission.source_sha256);
		submission.report = made;
		submission.verdict = made?.verdict ?? verdict;
		submission.status = 'done';
		submission.finished_at = new Date().toISOString();
		const { judging_id } = submission;
		if (made) emit(submission, { event: 'report', judging_id, report: made });
		emit(submission, {
			event: 'status',
			judging_id,
			status: 'done',
			attempt: 1,
			verdict: submission.verdict,
			kind: made?.kind ?? null,
			message: messageOf(submission)
		});
		for (const listener of submission.listeners) listener.end();
	}

	const messageOf = (submission) =>
		submission.verdict === 'cancelled'
			? 'cancelled while queued'
			: (submission.report?.message ?? null);

	function emit(submission, event) {
		const stored = event.event !== 'progress';
		if (stored) submission.events.push(event);
		const seq = stored ? submission.events.length : null;
		for (const listener of submission.listeners) write(listener, submission, event, seq);
	}

	function write(response, submission, event, seq) {
		const id = seq === null ? '' : `id: ${submission.submission_id}:${seq}\n`;
		response.write(`${id}event: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`);
	}

	function summary(submission) {
		return {
			submission_id: submission.submission_id,
			judging_id: submission.judging_id,
			problem: submission.problem,
			device: submission.device,
			mode: submission.mode,
			status: submission.status,
			progress: null,
			verdict: submission.verdict,
			kind: submission.report?.kind ?? null,
			message: messageOf(submission),
			score: submission.report?.score ?? null,
			created_at: submission.created_at,
			finished_at: submission.finished_at ?? null
		};
	}

	const send = (response, status, body, type = 'application/json') => {
		response.writeHead(status, { 'content-type': type, 'content-security-policy': POLICY });
		response.end(body === undefined ? '' : JSON.stringify(body));
	};
	const refuse = (response, status, code, detail) =>
		send(
			response,
			status,
			{ code, detail, request_id: randomUUID(), status },
			'application/problem+json'
		);

	async function api(request, response, url) {
		if (state.down) return refuse(response, 503, 'unavailable', 'The database cannot be reached.');
		const parts = url.pathname.split('/').slice(3).map(decodeURIComponent);
		const [what, id, sub, device] = parts;
		if (what === 'me') {
			if (state.signedIn) return send(response, 200, ACCOUNT);
			return refuse(response, 401, 'unauthenticated', 'No session.');
		}
		if (what === 'devices') return send(response, 200, { devices });
		if (what === 'problems' && id === undefined) {
			const problems = state.signedIn
				? summaries
				: summaries.map((problem) => ({ ...problem, solved: null }));
			return send(response, 200, { problems });
		}
		if (what === 'problems' && detail(id) === null) {
			return refuse(response, 404, 'unknown_problem', `no problem is called ${id}`);
		}
		if (what === 'problems' && sub === 'boards') {
			return send(response, 200, board(id, device, state.emptyBoard || device !== 'emulated'));
		}
		if (what === 'problems') return send(response, 200, detail(id));
		if (!state.signedIn) return refuse(response, 401, 'unauthenticated', 'No session.');
		if (what === 'logout') {
			state.signedIn = false;
			return send(response, 204);
		}
		return submissionApi(request, response, url, what, id, sub);
	}

	async function submissionApi(request, response, url, what, id, sub) {
		if (what === 'submissions' && id === undefined && request.method === 'POST') {
			const body = JSON.parse(await text(request));
			if (body.source.trim() === '') {
				return refuse(response, 422, 'invalid_source', 'the source is empty');
			}
			const made = create(body);
			return send(response, 201, {
				submission_id: made.submission_id,
				judging_id: made.judging_id
			});
		}
		if (what === 'submissions' && id === undefined) {
			const slug = url.searchParams.get('problem');
			const list = [...submissions.values()].filter((one) => one.problem.slug === slug).reverse();
			return send(response, 200, { submissions: list.map(summary), next_before: null });
		}
		if (what === 'judgings') {
			await new Promise((done) => setTimeout(done, state.slowMs));
			const found = [...submissions.values()].find((one) => one.judging_id === id);
			if (!found) return refuse(response, 404, 'not_found', 'no such judging');
			if (sub === 'code') {
				const listing = code(found.source);
				if (listing === null) return refuse(response, 404, 'no_code', 'Nothing was compiled.');
				return send(response, 200, { judging_id: id, ...listing });
			}
			return send(response, 200, {
				...summary(found),
				attempts: 1,
				report: found.report,
				queued_at: found.created_at,
				started_at: found.created_at
			});
		}
		const found = submissions.get(id);
		if (!found) return refuse(response, 404, 'not_found', 'no such submission');
		if (sub === 'events') return events(request, response, url, found);
		if (sub === 'cancel') finish(found, 'cancelled');
		return send(response, 200, {
			...summary(found),
			user: { user_id: ACCOUNT.user_id, name: ACCOUNT.name },
			judging_ids: [found.judging_id],
			source: found.source,
			source_sha256: found.source_sha256,
			queued_ahead: found.status === 'queued' ? 2 : null,
			last_seq: found.events.length
		});
	}

	function events(request, response, url, found) {
		const last = request.headers['last-event-id'] ?? url.searchParams.get('after') ?? '0';
		const after = Number(String(last).split(':').pop());
		if (found.status === 'done' && after >= found.events.length) return send(response, 204);
		response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
		found.events.forEach((event, index) => {
			if (index + 1 > after) write(response, found, event, index + 1);
		});
		if (found.status === 'done') return response.end();
		found.listeners.add(response);
		request.on('close', () => found.listeners.delete(response));
	}

	async function page(response, pathname) {
		const relative = normalize(pathname).replace(/^[/\\]+/, '');
		const name = extname(relative) === '' ? 'index.html' : relative;
		try {
			const body = await readFile(join(BUILD, name));
			response.writeHead(200, {
				'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
				'content-security-policy': POLICY
			});
			response.end(body);
		} catch {
			response.writeHead(404);
			response.end();
		}
	}

	const server = createServer((request, response) => {
		const url = new URL(request.url ?? '/', 'http://mock');
		const handle = async () => {
			if (url.pathname === '/mock/state') {
				Object.assign(state, JSON.parse(await text(request)));
				return send(response, 200, state);
			}
			if (url.pathname.startsWith('/api/')) return api(request, response, url);
			return page(response, url.pathname);
		};
		handle().catch((problem) => refuse(response, 500, 'internal', String(problem)));
	});
	return new Promise((ready) => {
		server.listen(port, '127.0.0.1', () => {
			const address = server.address();
			ready({
				url: `http://127.0.0.1:${address.port}`,
				state,
				close: () => {
					server.closeAllConnections();
					server.close();
				}
			});
		});
	});
}

async function text(request) {
	let body = '';
	for await (const chunk of request) body += chunk;
	return body;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const mock = await startMock(Number(process.argv[2] ?? 4173));
	console.log(mock.url);
}
