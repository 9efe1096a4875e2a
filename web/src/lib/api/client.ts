// Every call this app makes to the API. Answers come back typed; anything else throws `ApiFailure`.

import createClient from 'openapi-fetch';

import { asFailure, failureFromAnswer } from './failure';
import type { paths } from './schema';
import type {
	Account,
	Board,
	DeviceView,
	Judging,
	JudgingCode,
	Mode,
	ProblemDetail,
	ProblemSummary,
	Submission,
	SubmissionSummary,
	Submitted
} from './types';

const http = createClient<paths>({
	baseUrl: '',
	// Looked up at each call, so that tests may replace it.
	fetch: (request) => globalThis.fetch(request)
});

interface Answer<T> {
	data?: T;
	error?: unknown;
	response: Response;
}

async function settle<T>(call: Promise<Answer<T>>): Promise<T> {
	let answer: Answer<T>;
	try {
		answer = await call;
	} catch (thrown) {
		throw asFailure(thrown);
	}
	if (!answer.response.ok) throw failureFromAnswer(answer.response, answer.error);
	return answer.data as T;
}

/** The signed-in account, or `null` for a visitor. */
export async function me(): Promise<Account | null> {
	try {
		return await settle(http.GET('/api/v1/me'));
	} catch (thrown) {
		const failure = asFailure(thrown);
		if (failure.isSignedOut) return null;
		throw failure;
	}
}

export async function logout(): Promise<void> {
	await settle(http.POST('/api/v1/logout'));
}

export async function devices(): Promise<DeviceView[]> {
	return (await settle(http.GET('/api/v1/devices'))).devices;
}

export async function problems(): Promise<ProblemSummary[]> {
	return (await settle(http.GET('/api/v1/problems'))).problems;
}

export function problem(slug: string): Promise<ProblemDetail> {
	return settle(http.GET('/api/v1/problems/{slug}', { params: { path: { slug } } }));
}

export function board(slug: string, device: string): Promise<Board> {
	const params = { path: { slug, device } };
	return settle(http.GET('/api/v1/problems/{slug}/boards/{device}', { params }));
}

export function submit(
	problem: string,
	device: string,
	mode: Mode,
	source: string
): Promise<Submitted> {
	return settle(http.POST('/api/v1/submissions', { body: { problem, device, mode, source } }));
}

export function submission(id: string): Promise<Submission> {
	return settle(http.GET('/api/v1/submissions/{id}', { params: { path: { id } } }));
}

/** The caller's newest submissions to one problem, newest first. */
export async function mySubmissions(
	problem: string,
	before?: string
): Promise<{ submissions: SubmissionSummary[]; nextBefore: string | null }> {
	const query = before === undefined ? { problem, limit: 20 } : { problem, before, limit: 20 };
	const page = await settle(http.GET('/api/v1/submissions', { params: { query } }));
	return { submissions: page.submissions, nextBefore: page.next_before ?? null };
}

export async function cancel(id: string): Promise<void> {
	await settle(http.POST('/api/v1/submissions/{id}/cancel', { params: { path: { id } } }));
}

export function judging(id: string): Promise<Judging> {
	return settle(http.GET('/api/v1/judgings/{id}', { params: { path: { id } } }));
}

/** What the source of a judging was compiled to; for those who may read the source. */
export function judgingCode(id: string): Promise<JudgingCode> {
	return settle(http.GET('/api/v1/judgings/{id}/code', { params: { path: { id } } }));
}

/** Where the events of a submission are streamed; resumes behind `after`. */
export function eventsUrl(id: string, after: number): string {
	const path = `/api/v1/submissions/${encodeURIComponent(id)}/events`;
	return after > 0 ? `${path}?after=${after}` : path;
}
