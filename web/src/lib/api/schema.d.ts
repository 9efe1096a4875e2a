// Shapes of the API, in the form that openapi-typescript writes. `npm run client` replaces this file.

export interface paths {
	'/api/v1/me': { get: Operation<Empty, components['schemas']['Account']> };
	'/api/v1/logout': { post: Operation<Empty, undefined, 204> };
	'/api/v1/devices': { get: Operation<Empty, components['schemas']['DeviceList']> };
	'/api/v1/problems': { get: Operation<Empty, components['schemas']['ProblemList']> };
	'/api/v1/problems/{slug}': {
		get: Operation<{ path: { slug: string } }, components['schemas']['ProblemDetail']>;
	};
	'/api/v1/problems/{slug}/boards/{device}': {
		get: Operation<
			{ path: { slug: string; device: string }; query?: { limit?: number } },
			components['schemas']['Board']
		>;
	};
	'/api/v1/submissions': {
		get: Operation<
			{ query?: { problem?: string; before?: string; limit?: number } },
			components['schemas']['SubmissionList']
		>;
		post: Operation<
			Empty,
			components['schemas']['Submitted'],
			201,
			components['schemas']['Submit']
		>;
	};
	'/api/v1/submissions/{id}': {
		get: Operation<{ path: { id: string } }, components['schemas']['Submission']>;
	};
	'/api/v1/submissions/{id}/cancel': {
		post: Operation<{ path: { id: string } }, components['schemas']['Submission']>;
	};
	'/api/v1/judgings/{id}': {
		get: Operation<{ path: { id: string } }, components['schemas']['Judging']>;
	};
}

// eslint-disable-next-line @typescript-eslint/no-empty-object-type
type Empty = {};

type Operation<Parameters, Answer, Status extends number = 200, Body = never> = {
	parameters: Parameters;
	responses: {
		[S in Status]: {
			headers: Record<string, unknown>;
			content: { 'application/json': Answer };
		};
	} & {
		default: {
			headers: Record<string, unknown>;
			content: { 'application/problem+json': components['schemas']['ProblemBody'] };
		};
	};
} & ([Body] extends [never]
	? { requestBody?: never }
	: { requestBody: { content: { 'application/json': Body } } });

export interface components {
	schemas: {
		Account: { user_id: string; name: string; operator: boolean };
		UserRef: { user_id: string; name: string };
		ProblemBody: { code: string; detail: string; request_id: string; status: number };
		DeviceName:
			| 'emulated'
			| 't4'
			| 'a10'
			| 'a100-40gb'
			| 'a100-80gb'
			| 'l4'
			| 'l40s'
			| 'rtx3090'
			| 'rtx4090'
			| 'rtx5090'
			| 'h100-pcie'
			| 'h100-sxm'
			| 'h200'
			| 'b200';
		DeviceKind: 'gpu' | 'emulated';
		DeviceList: { devices: components['schemas']['DeviceView'][] };
		DeviceView: {
			name: components['schemas']['DeviceName'];
			kind: components['schemas']['DeviceKind'];
			live_workers: number;
			queued: number;
		};
		Mode: 'practice' | 'ranked';
		Status: 'queued' | 'running' | 'done';
		Phase: 'compiling' | 'checking' | 'timing' | 'verifying';
		Progress: { phase: components['schemas']['Phase']; done: number; total: number };
		Verdict:
			| 'accepted'
			| 'wrong_answer'
			| 'compile_error'
			| 'plan_error'
			| 'runtime_error'
			| 'time_limit'
			| 'memory_limit'
			| 'output_limit'
			| 'cancelled'
			| 'held'
			| 'rejected'
			| 'unsupported'
			| 'judge_error';
		VerdictKind: string;
		Bound: 'compute' | 'memory';
		Direction: 'in' | 'out' | 'inout';
		ProblemKind: 'lesson' | 'workload';
		Localized: { en: string; zh: string };
		Axes: { [axis: string]: number };
		ProblemRef: { slug: string; version: number };
		ProblemList: { problems: components['schemas']['ProblemSummary'][] };
		ProblemSummary: {
			slug: string;
			version: number;
			kind: components['schemas']['ProblemKind'];
			title: components['schemas']['Localized'];
			difficulty: string;
			tags: string[];
			bound?: components['schemas']['Bound'] | null;
			devices: components['schemas']['DeviceName'][];
			solvers: number;
			solved?: boolean | null;
		};
		ProblemDetail: components['schemas']['ProblemSummary'] & {
			statement: components['schemas']['Localized'];
			declaration: string;
			parameters: components['schemas']['ParameterView'][];
			axes: components['schemas']['AxisView'][];
			strata: components['schemas']['StratumView'][];
			edge_shapes: components['schemas']['ShapeView'][];
			emulated_shapes: components['schemas']['ShapeView'][];
			cost: components['schemas']['CostView'];
			limits: components['schemas']['LimitsView'];
			constraints: string[];
			hints: components['schemas']['Localized'][];
			provenance: components['schemas']['ProvenanceView'];
			starter: string;
		};
		ProvenanceView: { text: string; licence: string };
		ParameterView: {
			name: string;
			about?: components['schemas']['Localized'] | null;
			c_type: string;
			element: string;
			direction?: components['schemas']['Direction'] | null;
			shape?: string[] | null;
			value?: string | null;
			generator?: string | null;
			tolerance?: string | null;
		};
		AxisView: {
			name: string;
			about?: components['schemas']['Localized'] | null;
			kind: 'const' | 'var' | 'expr';
			value?: number | null;
			min?: number | null;
			max?: number | null;
			align?: number | null;
			expression?: string | null;
		};
		StratumView: {
			id: string;
			label: string;
			axes: components['schemas']['Axes'];
			drawn: { [axis: string]: components['schemas']['DrawnAxis'] };
			calls: number;
			time: number;
			w: number;
			basis?: string | null;
			source?: string | null;
		};
		DrawnAxis: { public: number; lo: number; hi: number; align: number };
		ShapeView: { id: string; stratum?: string | null; axes: components['schemas']['Axes'] };
		CostView: { flop: { [pipe: string]: string }; fused_bytes?: string | null };
		LimitsView: {
			compile_s?: number | null;
			run_s?: number | null;
			memory_bytes?: number | null;
			scratch_bytes?: number | null;
			forbidden_pipes: string[];
		};
		Submit: {
			problem: string;
			device: string;
			mode?: components['schemas']['Mode'];
			source: string;
		};
		Submitted: { submission_id: string; judging_id: string };
		SubmissionSummary: {
			submission_id: string;
			judging_id: string;
			problem: components['schemas']['ProblemRef'];
			device: components['schemas']['DeviceName'];
			mode: components['schemas']['Mode'];
			status: components['schemas']['Status'];
			progress?: components['schemas']['Progress'] | null;
			verdict?: components['schemas']['Verdict'] | null;
			kind?: components['schemas']['VerdictKind'] | null;
			message?: string | null;
			score?: components['schemas']['Score'] | null;
			created_at: string;
			finished_at?: string | null;
		};
		Submission: components['schemas']['SubmissionSummary'] & {
			user: components['schemas']['UserRef'];
			judging_ids: string[];
			source?: string | null;
			source_sha256: string;
			queued_ahead?: number | null;
			last_seq: number;
		};
		SubmissionList: {
			submissions: components['schemas']['SubmissionSummary'][];
			next_before?: string | null;
		};
		Judging: {
			judging_id: string;
			submission_id: string;
			problem: components['schemas']['ProblemRef'];
			device: components['schemas']['DeviceName'];
			mode: components['schemas']['Mode'];
			status: components['schemas']['Status'];
			progress?: components['schemas']['Progress'] | null;
			attempts: number;
			verdict?: components['schemas']['Verdict'] | null;
			kind?: components['schemas']['VerdictKind'] | null;
			message?: string | null;
			report?: components['schemas']['Report'] | null;
			queued_at: string;
			started_at?: string | null;
			finished_at?: string | null;
		};
		Board: {
			problem: components['schemas']['ProblemRef'];
			device: components['schemas']['DeviceName'];
			device_kind: components['schemas']['DeviceKind'];
			metric: components['schemas']['ScoreMetric'];
			total: number;
			entries: components['schemas']['BoardEntry'][];
			yours?: components['schemas']['BoardEntry'] | null;
		};
		BoardEntry: {
			rank: number;
			user: components['schemas']['UserRef'];
			submission_id: string;
			judging_id: string;
			value: number;
			strict_sol?: number | null;
			worst_shape?: string | null;
			judged_at: string;
		};
		Event:
			| ({ event: 'status' } & components['schemas']['StatusEvent'])
			| ({ event: 'phase' } & components['schemas']['PhaseEvent'])
			| ({ event: 'progress' } & components['schemas']['ProgressEvent'])
			| ({ event: 'report' } & components['schemas']['ReportEvent']);
		StatusEvent: {
			judging_id: string;
			status: components['schemas']['Status'];
			attempt: number;
			verdict?: components['schemas']['Verdict'] | null;
			kind?: components['schemas']['VerdictKind'] | null;
			message?: string | null;
		};
		PhaseEvent: { judging_id: string; attempt: number; phase: components['schemas']['Phase'] };
		ProgressEvent: { judging_id: string } & components['schemas']['Progress'];
		ReportEvent: { judging_id: string; report: components['schemas']['Report'] };
		Diagnostic: {
			stage: 'plan' | 'compile' | 'run';
			severity: 'error' | 'warning' | 'note';
			line?: number | null;
			column?: number | null;
			message: string;
			hint?: string | null;
		};
		ScoreMetric: 'sol' | 'modelled_sol' | 'traffic_efficiency';
		Score: {
			metric: components['schemas']['ScoreMetric'];
			value?: number | null;
			strict_sol?: number | null;
			worst_shape?: string | null;
			scoring_version: number;
		};
		PhaseTimes: {
			queue?: number | null;
			plan?: number | null;
			compile?: number | null;
			execute?: number | null;
			check?: number | null;
			overhead?: number | null;
			total?: number | null;
		};
		Report: {
			schema: string;
			problem: components['schemas']['ProblemRef'];
			device: {
				name: components['schemas']['DeviceName'];
				kind: components['schemas']['DeviceKind'];
				arch: string;
				profile?: string | null;
			};
			mode: components['schemas']['Mode'];
			source_sha256: string;
			toolchain: { nvrtc: string; cupti?: string | null; options: string[] };
			verdict: components['schemas']['Verdict'];
			kind?: components['schemas']['VerdictKind'] | null;
			message: string;
			diagnostics: components['schemas']['Diagnostic'][];
			execution: 'planned' | 'live';
			kernels: components['schemas']['KernelResources'][];
			shapes: components['schemas']['ShapeReport'][];
			score?: components['schemas']['Score'] | null;
			phases_s: components['schemas']['PhaseTimes'];
			printed?: string | null;
			warnings: string[];
			started_at: string;
			finished_at: string;
		};
		KernelResources: {
			name: string;
			registers?: number | null;
			spill_bytes?: number | null;
			static_smem_bytes?: number | null;
			occupancy?: number | null;
		};
		ShapeRole: 'edge' | 'public' | 'held_out' | 'emulated';
		ShapeReport: {
			id: string;
			stratum?: string | null;
			role: components['schemas']['ShapeRole'];
			axes?: components['schemas']['Axes'] | null;
			w?: number | null;
			verdict?: components['schemas']['Verdict'] | null;
			kind?: components['schemas']['VerdictKind'] | null;
			message?: string | null;
			mismatches: components['schemas']['OutputMismatch'][];
			launches?: number | null;
			flop?: number | null;
			fused_bytes?: number | null;
			t_s?: number | null;
			t_sol_s?: number | null;
			bound?: components['schemas']['Bound'] | null;
			sol?: number | null;
			traffic_efficiency?: number | null;
			counters?: components['schemas']['Counters'] | null;
		};
		OutputMismatch: {
			output: string;
			count: number;
			elements: number;
			nan: number;
			inf: number;
			unwritten: number;
			max_abs_error?: number | null;
			max_rel_error?: number | null;
			first: components['schemas']['ElementMismatch'][];
		};
		ElementMismatch: { index: number[]; expected: string; actual: string; tolerance: string };
		Counters: {
			warp_instructions: number;
			thread_instructions: number;
			global_requests: number;
			global_load_sectors: number;
			global_store_sectors: number;
			shared_requests: number;
			shared_wavefronts: number;
			barriers: number;
			atomics: number;
			divergent_branches: number;
			flop: { [type: string]: number };
		};
	};
}
