// Generated from the API's OpenAPI document by `npm run client`. Do not edit.

export interface paths {
    "/api/v1/devices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every device, with the workers and the queue it has now. */
        get: operations["devices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/judgings/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One judging, its report inside. */
        get: operations["judging"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/judgings/{id}/code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the compiler made of the source: PTX and machine code, each line with the line of the source that it
         *     was made from. Machine code may be missing, and says why. For those who may read the source.
         */
        get: operations["judging_code"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends the session of the cookie. A token is not touched. */
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The caller's own account. */
        get: operations["me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/invariants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Checks what must hold in the database. Reads whole tables. */
        get: operations["operator_invariants"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/problems": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every problem on offer, by slug. */
        get: operations["problems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/problems/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A problem with its statement, parameters, strata and starter. */
        get: operations["problem"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/problems/{slug}/boards/{device}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The best accepted ranked judging of each user, at the problem's newest version. */
        get: operations["board"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/submissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The caller's own submissions, newest first. */
        get: operations["submissions"];
        put?: never;
        /** Hands in a source. The answer names the submission and its first judging. */
        post: operations["submit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/submissions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One submission. Its source is there for its owner alone. */
        get: operations["submission"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/submissions/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends the submission with the verdict `cancelled`, at once; a worker at it stops. */
        post: operations["cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/submissions/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Events of a submission as server-sent events; resumes behind `Last-Event-ID`. Answers 204 when
         *     every event has been seen and none can follow.
         */
        get: operations["events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/worker/attempts/{id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Keeps the lease. 409: it was lost, kill the executor at once. */
        post: operations["worker_heartbeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/worker/attempts/{id}/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Tells watchers how far the attempt is. Steps are streamed only; a new phase is stored. */
        post: operations["worker_progress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/worker/attempts/{id}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends the attempt. Sending the same again is safe. 409: the lease was lost, and nothing was written. */
        post: operations["worker_report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/worker/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes the next judging, waiting up to `wait_s` for one. */
        post: operations["worker_claim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/worker/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A worker process introduces itself. The process that had its name before is refused from now on. */
        post: operations["worker_register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The process answers. */
        get: operations["healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The database answers, its schema is the one expected, and this process is not stopping. */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The account behind a token or a session: `GET /api/v1/me`. */
        Account: {
            /** @description Name as shown on boards. */
            name: string;
            /** @description Whether it may see others' work and operate the service. */
            operator: boolean;
            /** @description Id. */
            user_id: components["schemas"]["UserId"];
        };
        /**
         * Format: uuid
         * @description One worker's try at a judging.
         */
        AttemptId: string;
        /** @description How an attempt ended. Infrastructure faults and submission faults are told apart here. */
        AttemptOutcome: {
            code?: components["schemas"]["CodeListing"] | null;
            /** @enum {string} */
            outcome: "report";
            /** @description Everything it found out. */
            report: components["schemas"]["Report"];
        } | {
            /** @enum {string} */
            outcome: "retry";
            /** @description For the operator's log. */
            reason: string;
        } | {
            /** @enum {string} */
            outcome: "release";
            /** @description For the operator's log. */
            reason: string;
        };
        /** @description `POST /api/v1/worker/attempts/{id}/report`: ends the attempt. */
        AttemptReport: components["schemas"]["AttemptOutcome"] & {
            /** @description From the claim. */
            lease_token: components["schemas"]["LeaseToken"];
        };
        /**
         * @description How an axis gets its value.
         * @enum {string}
         */
        AxisKind: "const" | "var" | "expr";
        /** @description One axis. */
        AxisView: {
            about?: components["schemas"]["Localized"] | null;
            /**
             * Format: int64
             * @description A `var` is a multiple of this.
             */
            align?: number | null;
            /** @description Of an `expr`. */
            expression?: string | null;
            /** @description How it gets its value. */
            kind: components["schemas"]["AxisKind"];
            /**
             * Format: int64
             * @description Greatest value of a `var`.
             */
            max?: number | null;
            /**
             * Format: int64
             * @description Least value of a `var`.
             */
            min?: number | null;
            /** @description Name. */
            name: string;
            /**
             * Format: int64
             * @description Of a `const`.
             */
            value?: number | null;
        };
        BTreeMap: {
            [key: string]: number;
        };
        /** @description `GET /api/v1/problems/{slug}/boards/{device}`: the best accepted ranked judging of each user. */
        Board: {
            /** @description Device. */
            device: components["schemas"]["DeviceName"];
            /** @description Measured or counted. */
            device_kind: components["schemas"]["DeviceKind"];
            /** @description Best first. Equal values share a rank; among them the earlier comes first. */
            entries: components["schemas"]["BoardEntry"][];
            /** @description What `value` is on this board. */
            metric: components["schemas"]["ScoreMetric"];
            /** @description Problem at the version this board belongs to. */
            problem: components["schemas"]["ProblemRef"];
            /**
             * Format: int64
             * @description Users on the board in all, of whom `entries` may hold only the first.
             */
            total: number;
            yours?: components["schemas"]["BoardEntry"] | null;
        };
        /** @description One user's best. */
        BoardEntry: {
            /**
             * Format: date-time
             * @description When the judging ended.
             */
            judged_at: string;
            /** @description The judging that counts. */
            judging_id: components["schemas"]["JudgingId"];
            /**
             * Format: int64
             * @description From 1; shared by equal values.
             */
            rank: number;
            /**
             * Format: double
             * @description Strict SOL, where the metric has one.
             */
            strict_sol?: number | null;
            /** @description The submission. */
            submission_id: components["schemas"]["SubmissionId"];
            /** @description Whose it is. */
            user: components["schemas"]["UserRef"];
            /**
             * Format: double
             * @description The headline of the board's metric, 0 to 1.
             */
            value: number;
            /** @description Id of the shape with the lowest ratio. */
            worst_shape?: string | null;
        };
        /**
         * @description Which side of the roofline holds.
         * @enum {string}
         */
        Bound: "compute" | "memory";
        /**
         * @description What a card reached when it was calibrated. A figure that could not be measured is absent; so is
         *     the rate of a pipe that the card lacks.
         */
        Ceilings: {
            /**
             * Format: date-time
             * @description When.
             */
            calibrated_at: string;
            /**
             * Format: double
             * @description Device memory, read and written in equal parts, both counted.
             */
            copy_bytes_per_s?: number | null;
            /** @description By pipe, spelt as in packages; a multiply-add counts two. */
            flop_per_s: {
                [key: string]: number;
            };
            /**
             * Format: double
             * @description L2 cache, read only.
             */
            l2_read_bytes_per_s?: number | null;
            /**
             * Format: double
             * @description Time of an empty kernel.
             */
            launch_floor_s?: number | null;
            /**
             * Format: double
             * @description Device memory, read only.
             */
            read_bytes_per_s?: number | null;
            /**
             * Format: double
             * @description Shared memory of all multiprocessors, read only.
             */
            shared_read_bytes_per_s?: number | null;
        };
        /** @description Everything a worker needs to judge. */
        Claim: {
            /**
             * Format: int32
             * @description Number of this try, from 1.
             */
            attempt: number;
            /** @description This try at it. */
            attempt_id: components["schemas"]["AttemptId"];
            /** @description Device. */
            device: components["schemas"]["DeviceName"];
            /** @description The judging. */
            judging_id: components["schemas"]["JudgingId"];
            /**
             * Format: double
             * @description The lease holds this long from when the claim was sent.
             */
            lease_s: number;
            /** @description Must accompany every write. */
            lease_token: components["schemas"]["LeaseToken"];
            /** @description Practice or ranked. */
            mode: components["schemas"]["Mode"];
            /** @description Problem and version. */
            problem: components["schemas"]["ProblemRef"];
            /**
             * Format: double
             * @description How long it waited, for the report's `phases_s.queue`.
             */
            queued_s: number;
            /** @description The submitted text. */
            source: string;
            /** @description The submission. */
            submission_id: components["schemas"]["SubmissionId"];
        };
        /** @description Answer to [`ClaimRequest`]. */
        ClaimAnswer: {
            claim?: components["schemas"]["Claim"] | null;
        };
        /** @description `POST /api/v1/worker/claim`. */
        ClaimRequest: {
            /**
             * Format: uuid
             * @description Made by the worker. Repeating it returns the same lease, so that an answer lost on the way
             *     loses no judging. Use a new one after every answer that was read.
             */
            claim_id: string;
            /**
             * Format: int32
             * @description From [`Registered`]; an older one is refused with `stale_incarnation`.
             */
            incarnation: number;
            /**
             * Format: double
             * @description Wait this long for work before answering "none"; 0 answers at once.
             */
            wait_s?: number;
            /** @description From [`Registered`]. */
            worker_id: components["schemas"]["WorkerId"];
        };
        /**
         * @description Who decides on the clocks.
         * @enum {string}
         */
        ClockMode: "unlocked" | "locked";
        /**
         * @description What a part of the code is.
         * @enum {string}
         */
        CodeKind: "kernel" | "function" | "module";
        /** @description What the compiler made of a submission. */
        CodeListing: {
            /** @description The architecture compiled for, e.g. `sm_90a`. */
            arch: string;
            /**
             * @description Why there is no machine code, in a few words; `null` where there is, and of judgings before it was
             *     kept.
             */
            no_sass?: string | null;
            /** @description The virtual machine's code. */
            ptx: components["schemas"]["CodeText"];
            sass?: components["schemas"]["CodeText"] | null;
        };
        /** @description A function, or what stands outside of all. */
        CodePart: {
            /** @description What it is. */
            kind: components["schemas"]["CodeKind"];
            /** @description A launched kernel as the report spells it, another function by its name; empty for a module. */
            name: string;
            /** @description For each line of the text, the line of the submission that it was made from, from 1. */
            source_lines: (number | null)[];
            /** @description The code, line by line, joined by `\n`. */
            text: string;
        };
        /** @description One form of the code. */
        CodeText: {
            /**
             * Format: int32
             * @description Lines at the end that are left out because the whole is too long; lines that are too long
             *     themselves end in `…`.
             */
            lines_left_out: number;
            /** @description Launched kernels, other kernels, functions that they call, and what stands outside of all. */
            parts: components["schemas"]["CodePart"][];
        };
        /** @description What the problem prices, as expressions over the axes. */
        CostView: {
            /** @description FLOP by pipe. */
            flop: {
                [key: string]: string;
            };
            /** @description Fused bytes; `null` when they are the sum over the tensors. */
            fused_bytes?: string | null;
        };
        /** @description What the emulated device counted over all launches of a shape. */
        Counters: {
            /**
             * Format: int64
             * @description Atomic operations, one an active lane.
             */
            atomics: number;
            /**
             * Format: int64
             * @description Barriers, one a warp.
             */
            barriers: number;
            /**
             * Format: int64
             * @description Conditional branches on which lanes of a warp disagree.
             */
            divergent_branches: number;
            /** @description Floating-point operations by type (`f32`, `f64`, ...); a fused multiply-add counts two. */
            flop: {
                [key: string]: number;
            };
            /**
             * Format: int64
             * @description 32-byte sectors touched by global loads.
             */
            global_load_sectors: number;
            /**
             * Format: int64
             * @description Warp-level global loads and stores.
             */
            global_requests: number;
            /**
             * Format: int64
             * @description 32-byte sectors touched by global stores and atomics.
             */
            global_store_sectors: number;
            /**
             * Format: int64
             * @description Warp-level shared-memory accesses.
             */
            shared_requests: number;
            /**
             * Format: int64
             * @description Passes the shared memory needs for them; more than requests means bank conflicts.
             */
            shared_wavefronts: number;
            /**
             * Format: int64
             * @description Instructions executed, one an active lane.
             */
            thread_instructions: number;
            /**
             * Format: int64
             * @description Instructions issued, one a warp.
             */
            warp_instructions: number;
        };
        /**
         * @description The figures behind T_SOL, from the card's datasheet. Those of the emulated device are of the card
         *     it stands in for.
         */
        DeviceDescription: {
            /** @description Architecture compiled for, e.g. `sm_90a`. */
            arch: string;
            /**
             * Format: double
             * @description Time of an empty plan, s.
             */
            launch_floor_s: number;
            /**
             * Format: int32
             * @description Streaming multiprocessors.
             */
            multiprocessors: number;
            /**
             * Format: double
             * @description DRAM bandwidth, byte/s.
             */
            peak_bytes_per_s: number;
            /** @description Dense peak per pipe, FLOP/s. */
            peak_flop_per_s: {
                [key: string]: number;
            };
            /** @description Where each figure comes from, by field. */
            sources: {
                [key: string]: string;
            };
            stands_in_for?: components["schemas"]["DeviceName"] | null;
            /** @description Marketing name. */
            title: string;
        };
        /**
         * @description A real GPU or the CPU device that executes PTX.
         * @enum {string}
         */
        DeviceKind: "gpu" | "emulated";
        /** @description `GET /api/v1/devices`. */
        DeviceList: {
            /** @description Every device of the contract, in its order. */
            devices: components["schemas"]["DeviceView"][];
        };
        /**
         * @description A device model. The list is pinned by the contract; a GPU's index is never in the name.
         * @enum {string}
         */
        DeviceName: "emulated" | "t4" | "a10" | "a100-40gb" | "a100-80gb" | "l4" | "l40s" | "rtx3090" | "rtx4090" | "rtx5090" | "h100-pcie" | "h100-sxm" | "h200" | "b200";
        /** @description The device as it was at the time. */
        DeviceRef: {
            /** @description The architecture compiled for, e.g. `sm_90a`. */
            arch: string;
            /** @description Measured or counted. */
            kind: components["schemas"]["DeviceKind"];
            /** @description Model. */
            name: components["schemas"]["DeviceName"];
            /** @description Measurement profile: timer, clock mode, driver; `null` on the emulated device. */
            profile?: string | null;
        };
        /** @description One device model. */
        DeviceView: {
            description?: components["schemas"]["DeviceDescription"] | null;
            /** @description Measured or counted. */
            kind: components["schemas"]["DeviceKind"];
            /**
             * Format: int64
             * @description Workers that could judge on it now.
             */
            live_workers: number;
            /** @description Name. */
            name: components["schemas"]["DeviceName"];
            /**
             * Format: int64
             * @description Judgings waiting for it.
             */
            queued: number;
        };
        /** @description One message. Lines and columns count from 1 in the submitted file; columns count bytes. */
        Diagnostic: {
            /**
             * Format: int32
             * @description Column in that line, from 1.
             */
            column?: number | null;
            /** @description What to do instead. */
            hint?: string | null;
            /**
             * Format: int32
             * @description Line in the submitted file, from 1.
             */
            line?: number | null;
            /** @description What is wrong. */
            message: string;
            /** @description How bad it is. */
            severity: components["schemas"]["Severity"];
            /** @description Which step speaks. */
            stage: components["schemas"]["Stage"];
        };
        /**
         * @description How a tensor is used.
         * @enum {string}
         */
        Direction: "in" | "out" | "inout";
        /** @description The range that a stratum's draws come from. */
        DrawnAxis: {
            /**
             * Format: int64
             * @description Draws are multiples of this.
             */
            align: number;
            /**
             * Format: int64
             * @description Greatest.
             */
            hi: number;
            /**
             * Format: int64
             * @description Least.
             */
            lo: number;
            /**
             * Format: int64
             * @description The public draw.
             */
            public: number;
        };
        /** @description One element that differs. Non-finite values are spelt `NaN`, `inf`, `-inf`. */
        ElementMismatch: {
            /** @description What the submission wrote. */
            actual: string;
            /** @description What the reference has. */
            expected: string;
            /** @description Index along each dimension of the tensor. */
            index: number[];
            /** @description The difference that would have been admitted. */
            tolerance: string;
        };
        /**
         * @description The type of one element of a tensor, or of a scalar parameter.
         * @enum {string}
         */
        ElementType: "f64" | "f32" | "f16" | "bf16" | "fp8_e4m3" | "fp8_e5m2" | "i64" | "i32" | "i16" | "i8" | "u64" | "u32" | "u8" | "bool";
        /** @description One event: the SSE event name is [`Event::name`], the data its JSON without the tag's wrapper. */
        Event: (components["schemas"]["StatusEvent"] & {
            /** @enum {string} */
            event: "status";
        }) | (components["schemas"]["PhaseEvent"] & {
            /** @enum {string} */
            event: "phase";
        }) | (components["schemas"]["ProgressEvent"] & {
            /** @enum {string} */
            event: "progress";
        }) | (components["schemas"]["ReportEvent"] & {
            /** @enum {string} */
            event: "report";
        });
        /**
         * @description How the host function ran.
         * @enum {string}
         */
        Execution: "planned" | "live";
        /** @description `GET /healthz` (the process answers) and `GET /readyz` (so do the database and its schema). */
        Health: {
            /** @description `ok`. */
            status: string;
            /** @description Version of the server. */
            version: string;
        };
        /** @description `POST /api/v1/worker/attempts/{id}/heartbeat`: keeps the lease, nothing else. */
        Heartbeat: {
            /** @description From the claim. */
            lease_token: components["schemas"]["LeaseToken"];
        };
        /** @description Answer to [`Heartbeat`]. */
        HeartbeatAnswer: {
            /** @description The submission was cancelled: kill the executor; no report is wanted. */
            cancel: boolean;
            /**
             * Format: double
             * @description The lease holds this long from when the heartbeat was sent.
             */
            lease_s: number;
        };
        /** @description `GET /api/v1/operator/invariants`. */
        InvariantReport: {
            /** @description Empty when the database is sound. */
            violations: components["schemas"]["Violation"][];
        };
        /** @description `GET /api/v1/judgings/{id}`. */
        Judging: {
            /**
             * Format: int32
             * @description Attempts begun.
             */
            attempts: number;
            /** @description Device. */
            device: components["schemas"]["DeviceName"];
            /**
             * Format: date-time
             * @description When the verdict was written.
             */
            finished_at?: string | null;
            /** @description Id. */
            judging_id: components["schemas"]["JudgingId"];
            kind?: components["schemas"]["VerdictKind"] | null;
            /** @description One sentence for a person. */
            message?: string | null;
            /** @description Practice or ranked. */
            mode: components["schemas"]["Mode"];
            /** @description Problem and version. */
            problem: components["schemas"]["ProblemRef"];
            progress?: components["schemas"]["Progress"] | null;
            /**
             * Format: date-time
             * @description When it was queued.
             */
            queued_at: string;
            report?: components["schemas"]["Report"] | null;
            /**
             * Format: date-time
             * @description When its latest attempt began.
             */
            started_at?: string | null;
            /** @description Where it stands. */
            status: components["schemas"]["Status"];
            /** @description The submission it judges. */
            submission_id: components["schemas"]["SubmissionId"];
            verdict?: components["schemas"]["Verdict"] | null;
        };
        /** @description `GET /api/v1/judgings/{id}/code`, for those who may read the source. */
        JudgingCode: components["schemas"]["CodeListing"] & {
            /** @description The judging. */
            judging_id: components["schemas"]["JudgingId"];
        };
        /**
         * Format: uuid
         * @description One immutable judgement of a submission; a rejudge makes another.
         */
        JudgingId: string;
        /** @description What the compiler made of one kernel. */
        KernelResources: {
            /**
             * Format: int32
             * @description Hardware barriers a block.
             */
            barriers?: number | null;
            /**
             * Format: int32
             * @description Threads a block at its largest launch: that with the most threads a block, of those the one with
             *     the most dynamic shared memory.
             */
            block_threads?: number | null;
            /**
             * Format: int32
             * @description `__constant__` variables of the file, which every kernel can read.
             */
            constant_bytes?: number | null;
            /**
             * Format: int32
             * @description Dynamic shared memory a block, at its largest launch.
             */
            dynamic_smem_bytes?: number | null;
            /**
             * Format: int32
             * @description Local memory a thread: arrays that registers cannot hold, and spills.
             */
            local_bytes?: number | null;
            /** @description Name as written in the source, with template arguments. */
            name: string;
            /**
             * Format: double
             * @description Theoretical occupancy (0 to 1) at that launch.
             */
            occupancy?: number | null;
            occupancy_limiter?: components["schemas"]["OccupancyLimiter"] | null;
            /**
             * Format: int32
             * @description Registers a thread.
             */
            registers?: number | null;
            /**
             * Format: int32
             * @description Local memory for spilled registers, a thread.
             */
            spill_bytes?: number | null;
            /**
             * Format: int32
             * @description Static shared memory a block.
             */
            static_smem_bytes?: number | null;
        };
        /**
         * Format: uuid
         * @description Proof of holding a lease. Unguessable; never logged.
         */
        LeaseToken: string;
        /**
         * @description A mistake that shows in the values.
         * @enum {string}
         */
        LikelyCause: "output_not_set";
        /** @description T_SOL of one shape on one device, with what it follows from. */
        LimitView: {
            /** @description Which of the two it is. */
            bound: components["schemas"]["Bound"];
            /** @description The device. */
            device: components["schemas"]["DeviceName"];
            /**
             * Format: double
             * @description Operations the problem prices.
             */
            flop: number;
            /**
             * Format: int64
             * @description Bytes that must move.
             */
            fused_bytes: number;
            /**
             * Format: double
             * @description Time of the busiest unit at its peak.
             */
            t_compute_s: number;
            /**
             * Format: double
             * @description Time to move the bytes at peak bandwidth.
             */
            t_memory_s: number;
            /**
             * Format: double
             * @description The larger of the two.
             */
            t_sol_s: number;
        };
        /** @description What a submission may use up; `null` where the judge's default holds. */
        LimitsView: {
            /**
             * Format: double
             * @description Wall clock of the compiler.
             */
            compile_s?: number | null;
            /**
             * Format: int64
             * @description What the emulated device counts down: warp instructions that all launches of one shape may issue
             *     together. An instruction counts once for a warp, however many of its threads take part.
             */
            emulated_warp_instructions?: number | null;
            /** @description Pipes that must stay idle. */
            forbidden_pipes?: string[];
            /**
             * Format: int64
             * @description Device memory: parameters and scratch.
             */
            memory_bytes?: number | null;
            /**
             * Format: double
             * @description Wall clock of one shape's run.
             */
            run_s?: number | null;
            /**
             * Format: int64
             * @description Device memory that `solve` may allocate.
             */
            scratch_bytes?: number | null;
        };
        /** @description The same text in both languages. */
        Localized: {
            /** @description English. */
            en: string;
            /** @description Chinese. */
            zh: string;
        };
        /** @description One reading of a GPU's sensors. `null` where the card or the driver does not tell. */
        MachineState: {
            /**
             * Format: int64
             * @description Uncorrected memory errors since the driver was loaded.
             */
            ecc_uncorrected?: number | null;
            /**
             * Format: double
             * @description Energy drawn since the driver was loaded.
             */
            energy_j?: number | null;
            /**
             * Format: int64
             * @description Clock of the memory.
             */
            memory_clock_hz?: number | null;
            /**
             * Format: double
             * @description Power limit in force.
             */
            power_limit_w?: number | null;
            /**
             * Format: double
             * @description Power drawn.
             */
            power_w?: number | null;
            /**
             * Format: int64
             * @description Clock of the multiprocessors.
             */
            sm_clock_hz?: number | null;
            /**
             * Format: int32
             * @description Temperature of the chip.
             */
            temperature_c?: number | null;
            /** @description Why clocks are held down at this moment, by the driver's names in snake case. */
            throttle_reasons: string[];
            /**
             * Format: int64
             * @description Nanoseconds during which power or heat has held clocks down since the driver was loaded.
             */
            throttled_ns?: number | null;
        };
        /** @description The machine during the timed phase. */
        Measurement: {
            after?: components["schemas"]["MachineState"] | null;
            before?: components["schemas"]["MachineState"] | null;
            /** @description Time of a kernel that depends on the clock alone: before the trials and after each. */
            canary_s: number[];
            ceilings?: components["schemas"]["Ceilings"] | null;
            /** @description Whether the operator holds the clocks. */
            clock_mode: components["schemas"]["ClockMode"];
            /**
             * Format: int32
             * @description How often all trials started anew because the clock had moved by more than 2 % during one.
             */
            restarts?: number;
            /** @description Whether those around the trials that count are within 2 %. */
            steady: boolean;
            /** @description What measured. */
            timer: components["schemas"]["TimerRef"];
            /**
             * Format: double
             * @description Device time spent until the clock was steady.
             */
            warm_up_s: number;
        };
        /**
         * @description What the judging is for.
         * @enum {string}
         */
        Mode: "practice" | "ranked";
        /**
         * @description What can limit a kernel, as the model sees it.
         * @enum {string}
         */
        ModelTerm: "launch" | "dram" | "l2" | "shared" | "issue" | "pipe" | "tensor" | "atomics" | "latency";
        /**
         * @description An estimate for the GPU that the emulated device stands in for, from what was counted. Nothing of it was
         *     measured.
         */
        Modelled: {
            /** @description Why there is no time. */
            incomplete?: string | null;
            limit?: components["schemas"]["ModelTerm"] | null;
            /**
             * Format: double
             * @description T_SOL / `t_s`; `null` where the shape is not right.
             */
            sol?: number | null;
            /**
             * Format: double
             * @description Time; `null` where the counters do not suffice.
             */
            t_s?: number | null;
            /** @description What each unit would need by itself, over all launches, the longest first. */
            terms: components["schemas"]["ModelledTerm"][];
        };
        /** @description One unit's part in a modelled time. */
        ModelledTerm: {
            /**
             * Format: double
             * @description What it would need, s.
             */
            t_s: number;
            /** @description Which. */
            term: components["schemas"]["ModelTerm"];
        };
        /**
         * @description What a multiprocessor runs out of first.
         * @enum {string}
         */
        OccupancyLimiter: "registers" | "shared_memory" | "blocks" | "threads";
        /** @description One output that differs from the reference. */
        OutputMismatch: {
            /**
             * Format: int64
             * @description Elements outside their tolerance.
             */
            count: number;
            /**
             * Format: int64
             * @description Elements in all.
             */
            elements: number;
            /** @description The first few. */
            first: components["schemas"]["ElementMismatch"][];
            /**
             * Format: int64
             * @description Infinity where the reference has none.
             */
            inf: number;
            likely_cause?: components["schemas"]["LikelyCause"] | null;
            /**
             * Format: double
             * @description Largest absolute error; `null` when no finite one exists.
             */
            max_abs_error?: number | null;
            /**
             * Format: double
             * @description Largest relative error; `null` when no finite one exists.
             */
            max_rel_error?: number | null;
            /**
             * Format: int64
             * @description NaN where the reference has none.
             */
            nan: number;
            /** @description The parameter's name in the problem. */
            output: string;
            /**
             * Format: int64
             * @description Elements that still hold the poison pattern: never written.
             */
            unwritten: number;
        };
        /** @description One parameter of the entry point. */
        ParameterView: {
            about?: components["schemas"]["Localized"] | null;
            /** @description C++ type as in the declaration, e.g. `const float*`. */
            c_type: string;
            direction?: components["schemas"]["Direction"] | null;
            /** @description Element or scalar type. */
            element: components["schemas"]["ElementType"];
            /** @description How contents are drawn, for inputs; `null` otherwise. */
            generator?: string | null;
            /** @description The problem's name for it; a submission may use another. */
            name: string;
            /** @description Extents of a tensor, outermost first, as expressions over the axes; `null` for scalars. */
            shape?: string[] | null;
            /** @description How exact an output must be; `null` otherwise. */
            tolerance?: string | null;
            /** @description What a scalar is given: an axis, an expression or a number; `null` for tensors. */
            value?: string | null;
        };
        /**
         * @description What a running attempt is at.
         * @enum {string}
         */
        Phase: "compiling" | "checking" | "timing" | "verifying";
        /** @description A phase began. */
        PhaseEvent: {
            /**
             * Format: int32
             * @description Which attempt runs, from 1.
             */
            attempt: number;
            /** @description The judging. */
            judging_id: components["schemas"]["JudgingId"];
            /** @description The phase. */
            phase: components["schemas"]["Phase"];
        };
        /** @description Seconds spent in each phase; `null` where it did not happen. */
        PhaseTimes: {
            /**
             * Format: double
             * @description Reference and comparison.
             */
            check?: number | null;
            /**
             * Format: double
             * @description NVRTC.
             */
            compile?: number | null;
            /**
             * Format: double
             * @description Running the submission's kernels.
             */
            execute?: number | null;
            /**
             * Format: double
             * @description Everything else the judge did.
             */
            overhead?: number | null;
            /**
             * Format: double
             * @description Parsing and interpreting the host function. It and `compile` are `null` where the code was kept from
             *     an earlier judging of the same source.
             */
            plan?: number | null;
            /**
             * Format: double
             * @description Waiting for a worker.
             */
            queue?: number | null;
            /**
             * Format: double
             * @description The timed phase: all samples, with everything between them.
             */
            time?: number | null;
            /**
             * Format: double
             * @description From start to verdict.
             */
            total?: number | null;
        };
        /** @description What went wrong, for a program (`code`) and for a person (`detail`). Never internal text. */
        ProblemBody: {
            /** @description One of [`ErrorCode`]'s words; readers must expect new ones. */
            code: string;
            /** @description One or two sentences. */
            detail: string;
            /** @description Names the request in the server's log. */
            request_id: components["schemas"]["RequestId"];
            /**
             * Format: int32
             * @description The HTTP status, repeated for those who see only the body.
             */
            status: number;
        };
        /** @description `GET /api/v1/problems/{slug}`. */
        ProblemDetail: components["schemas"]["ProblemSummary"] & {
            /** @description Axes, in the package's order. */
            axes: components["schemas"]["AxisView"][];
            /** @description Conditions that every shape satisfies, over the axes. */
            constraints?: string[];
            /** @description What the problem prices. */
            cost: components["schemas"]["CostView"];
            /** @description The entry point as C++ text: `void solve(const float* A, int N)`. */
            declaration: string;
            /** @description Shapes checked for correctness only. */
            edge_shapes: components["schemas"]["ShapeView"][];
            /** @description Small stand-ins used on the emulated device. */
            emulated_shapes: components["schemas"]["ShapeView"][];
            /** @description Hints in order, from the gentlest. */
            hints?: components["schemas"]["Localized"][];
            /** @description What a submission may use up. */
            limits: components["schemas"]["LimitsView"];
            /** @description The parameter table, in the entry point's order. */
            parameters: components["schemas"]["ParameterView"][];
            /** @description Where the shapes come from. */
            provenance?: components["schemas"]["ProvenanceView"];
            /** @description Text the editor opens with. */
            starter: string;
            /** @description Markdown with KaTeX. Whoever renders it sanitises it. */
            statement: components["schemas"]["Localized"];
            /** @description Weighted shape buckets. */
            strata: components["schemas"]["StratumView"][];
        };
        /**
         * @description What a problem is for.
         * @enum {string}
         */
        ProblemKind: "lesson" | "workload";
        /** @description `GET /api/v1/problems`. */
        ProblemList: {
            /** @description By slug. */
            problems: components["schemas"]["ProblemSummary"][];
        };
        /** @description A problem at a version. */
        ProblemRef: {
            /** @description Slug. */
            slug: string;
            /**
             * Format: int32
             * @description Version of the package.
             */
            version: number;
        };
        /** @description One row of the problem list. */
        ProblemSummary: {
            bound?: components["schemas"]["Bound"] | null;
            /** @description Devices it can be judged on. */
            devices: components["schemas"]["DeviceName"][];
            /** @description `easy`, `medium` or `hard`. */
            difficulty: string;
            /** @description Lesson or workload. */
            kind: components["schemas"]["ProblemKind"];
            /** @description Slug. */
            slug: string;
            /** @description Whether the caller is one of them; `null` to callers without an account. */
            solved?: boolean | null;
            /**
             * Format: int64
             * @description Users with an accepted ranked judging of this version.
             */
            solvers: number;
            /** @description Topics. */
            tags: string[];
            /** @description Title. */
            title: components["schemas"]["Localized"];
            /**
             * Format: int32
             * @description Newest version.
             */
            version: number;
        };
        /** @description `done` of `total` steps of a phase are finished. */
        Progress: {
            /**
             * Format: int32
             * @description Steps finished.
             */
            done: number;
            /** @description The phase. */
            phase: components["schemas"]["Phase"];
            /**
             * Format: int32
             * @description Steps in all.
             */
            total: number;
        };
        /** @description How far the phase is. */
        ProgressEvent: components["schemas"]["Progress"] & {
            /** @description The judging. */
            judging_id: components["schemas"]["JudgingId"];
        };
        /** @description `POST /api/v1/worker/attempts/{id}/progress`: streamed to watchers. Answers 204. */
        ProgressReport: {
            /** @description From the claim. */
            lease_token: components["schemas"]["LeaseToken"];
            /** @description What the attempt is at. */
            progress: components["schemas"]["Progress"];
        };
        /** @description Where shapes and weights come from. */
        ProvenanceView: {
            /** @description SPDX expression. */
            licence: string;
            /** @description Sources, in words. */
            text: string;
        };
        /** @description `POST /api/v1/worker/register`. */
        Register: {
            /** @description Devices it can judge on. */
            devices: components["schemas"]["DeviceName"][];
            /**
             * @description Unique among the processes that share a key, e.g. `host-gpu0`. Registering a name again
             *     supersedes the process that had it and gives its judgings back to the queue.
             */
            name: string;
            /** @description Packages it has; nothing else is handed to it. */
            problems: components["schemas"]["ProblemRef"][];
            /** @description What it compiles with. */
            toolchain: components["schemas"]["ToolchainRef"];
        };
        /** @description Answer to [`Register`]. */
        Registered: {
            /**
             * Format: double
             * @description Send a heartbeat this often while judging.
             */
            heartbeat_interval_s: number;
            /**
             * Format: int32
             * @description Counts the registrations of that name.
             */
            incarnation: number;
            /**
             * Format: double
             * @description A lease holds this long after the claim or the last heartbeat.
             */
            lease_s: number;
            /**
             * Format: double
             * @description Longest `wait_s` of a claim.
             */
            long_poll_s: number;
            /**
             * Format: double
             * @description Report progress at most this often.
             */
            progress_interval_s: number;
            /** @description The worker's id, the same for every process of that name. */
            worker_id: components["schemas"]["WorkerId"];
        };
        /** @description Everything a judging found out. */
        Report: {
            /** @description Which device. */
            device: components["schemas"]["DeviceRef"];
            /** @description Messages at places in the source. */
            diagnostics: components["schemas"]["Diagnostic"][];
            /** @description How the host function ran. */
            execution: components["schemas"]["Execution"];
            /**
             * Format: date-time
             * @description When the verdict was known.
             */
            finished_at: string;
            /** @description Compiled kernels. */
            kernels: components["schemas"]["KernelResources"][];
            kind?: components["schemas"]["VerdictKind"] | null;
            measurement?: components["schemas"]["Measurement"] | null;
            /** @description One sentence for a person. */
            message: string;
            /** @description Practice or ranked. */
            mode: components["schemas"]["Mode"];
            /** @description Where the time went. */
            phases_s: components["schemas"]["PhaseTimes"];
            /** @description What kernels printed; practice runs only, at most 64 KiB. */
            printed?: string | null;
            /** @description Which problem, at which version. */
            problem: components["schemas"]["ProblemRef"];
            /** @description Always [`REPORT_SCHEMA`]. */
            schema: string;
            score?: components["schemas"]["Score"] | null;
            /** @description One row a shape, in judging order. */
            shapes: components["schemas"]["ShapeReport"][];
            /** @description SHA-256 of the submitted bytes. */
            source_sha256: string;
            /**
             * Format: date-time
             * @description When the judging began.
             */
            started_at: string;
            /** @description What compiled it. */
            toolchain: components["schemas"]["ToolchainRef"];
            /** @description The final word. */
            verdict: components["schemas"]["Verdict"];
            /** @description What a careful reader should know. */
            warnings: string[];
        };
        /** @description Answer to [`AttemptReport`]. Sending the same report again gives the same answer. */
        ReportAnswer: {
            verdict?: components["schemas"]["Verdict"] | null;
        };
        /** @description The report, as the caller may see it. */
        ReportEvent: {
            /** @description The judging. */
            judging_id: components["schemas"]["JudgingId"];
            /** @description Everything it found out. */
            report: components["schemas"]["Report"];
        };
        /**
         * Format: uuid
         * @description One HTTP request, named in every error so that an operator can find it in the log.
         */
        RequestId: string;
        /** @description A score over the distribution. */
        Score: {
            /** @description What `value` is. */
            metric: components["schemas"]["ScoreMetric"];
            /**
             * Format: int32
             * @description Version of the formulas and device figures.
             */
            scoring_version: number;
            /**
             * Format: double
             * @description The same with T_SOL alone, without the launch floor.
             */
            strict_sol?: number | null;
            /**
             * Format: double
             * @description The headline, 0 to 1.
             */
            value?: number | null;
            /** @description Id of the shape with the lowest ratio. */
            worst_shape?: string | null;
        };
        /**
         * @description What the board ranks.
         * @enum {string}
         */
        ScoreMetric: "sol" | "modelled_sol" | "traffic_efficiency";
        /**
         * @description How bad it is.
         * @enum {string}
         */
        Severity: "error" | "warning" | "note";
        /** @description One shape's result. */
        ShapeReport: {
            axes?: components["schemas"]["BTreeMap"] | null;
            bound?: components["schemas"]["Bound"] | null;
            counters?: components["schemas"]["Counters"] | null;
            /**
             * Format: double
             * @description Operations the problem prices, in FLOP.
             */
            flop?: number | null;
            /**
             * Format: int64
             * @description Bytes that must move.
             */
            fused_bytes?: number | null;
            /** @description Stable name within the judging. */
            id: string;
            kind?: components["schemas"]["VerdictKind"] | null;
            /**
             * Format: int32
             * @description Launches the plan makes; of a host function that was interpreted live, those of the untimed run.
             */
            launches?: number | null;
            /** @description One sentence for a person, where there is something to say. */
            message?: string | null;
            /** @description What differs, in practice detail. */
            mismatches: components["schemas"]["OutputMismatch"][];
            modelled?: components["schemas"]["Modelled"] | null;
            /**
             * Format: int32
             * @description Times that the host function read device memory in the untimed run; `null` where it was planned.
             */
            read_backs?: number | null;
            /** @description Why it is here. */
            role: components["schemas"]["ShapeRole"];
            /**
             * Format: double
             * @description T_SOL / T; `null` where the shape is not right.
             */
            sol?: number | null;
            /** @description The stratum it stands for; `null` for edge shapes. */
            stratum?: string | null;
            /**
             * Format: double
             * @description Measured time; `null` on the emulated device.
             */
            t_s?: number | null;
            /**
             * Format: double
             * @description What the hardware allows. On the emulated device: for the GPU it stands in for.
             */
            t_sol_s?: number | null;
            timing?: components["schemas"]["Timing"] | null;
            /**
             * Format: double
             * @description `fused_bytes / (32 * global sectors)`, emulated device only; `null` where the shape is not right.
             */
            traffic_efficiency?: number | null;
            verdict?: components["schemas"]["Verdict"] | null;
            /**
             * Format: double
             * @description Score weight; `null` for edge shapes.
             */
            w?: number | null;
        };
        /**
         * @description Why a shape is in the judging.
         * @enum {string}
         */
        ShapeRole: "edge" | "public" | "held_out" | "emulated";
        /** @description One shape that everybody may know. */
        ShapeView: {
            /** @description Axis values. */
            axes: components["schemas"]["BTreeMap"];
            /** @description Id. */
            id: string;
            /** @description The stratum it stands for; `null` for edge shapes. */
            stratum?: string | null;
        };
        /**
         * @description Which step of the judging speaks.
         * @enum {string}
         */
        Stage: "plan" | "compile" | "run";
        /**
         * @description Where a judging stands. `done` never leaves.
         * @enum {string}
         */
        Status: "queued" | "running" | "done";
        /** @description Where the judging stands. */
        StatusEvent: {
            /**
             * Format: int32
             * @description Which attempt runs or ran, from 1; 0 before the first.
             */
            attempt: number;
            /** @description The judging. */
            judging_id: components["schemas"]["JudgingId"];
            kind?: components["schemas"]["VerdictKind"] | null;
            /** @description One sentence for a person: the report's, or why it was queued again. */
            message?: string | null;
            /** @description Where it stands. */
            status: components["schemas"]["Status"];
            verdict?: components["schemas"]["Verdict"] | null;
        };
        /** @description One stratum. Weights are frozen data of the problem version. */
        StratumView: {
            /** @description Every axis of the public draw. */
            axes: components["schemas"]["BTreeMap"];
            /** @description `trace`, `traced-model`, `config` or `spec`. */
            basis?: string | null;
            /**
             * Format: double
             * @description Share of real invocations.
             */
            calls: number;
            /** @description Ranges of the axes that are drawn; the others are fixed. */
            drawn: {
                [key: string]: components["schemas"]["DrawnAxis"];
            };
            /** @description Id. */
            id: string;
            /** @description Model or deployment it stands for. */
            label: string;
            limit?: components["schemas"]["LimitView"] | null;
            /** @description Where the numbers come from. */
            source?: string | null;
            /**
             * Format: double
             * @description Share of roofline time.
             */
            time: number;
            /**
             * Format: double
             * @description Score weight.
             */
            w: number;
        };
        /** @description `GET /api/v1/submissions/{id}`. */
        Submission: components["schemas"]["SubmissionSummary"] & {
            /** @description Every judging, oldest first; the last one counts. */
            judging_ids: components["schemas"]["JudgingId"][];
            /**
             * Format: int64
             * @description Number of the newest stored event; resume the stream behind it with `?after=`.
             */
            last_seq: number;
            /**
             * Format: int64
             * @description Judgings that will be taken before this one; `null` unless queued.
             */
            queued_ahead?: number | null;
            /** @description The submitted text; `null` to everybody but its owner and operators. */
            source?: string | null;
            /** @description SHA-256 of the submitted bytes. */
            source_sha256: string;
            /** @description Who handed it in. */
            user: components["schemas"]["UserRef"];
        };
        /**
         * Format: uuid
         * @description One source + target handed in by a user.
         */
        SubmissionId: string;
        /** @description `GET /api/v1/submissions?problem=&before=&limit=`: the caller's own, newest first. */
        SubmissionList: {
            next_before?: components["schemas"]["SubmissionId"] | null;
            /** @description Newest first. */
            submissions: components["schemas"]["SubmissionSummary"][];
        };
        /** @description One row of a list of submissions; the state is that of the newest judging. */
        SubmissionSummary: {
            /**
             * Format: date-time
             * @description When it was handed in.
             */
            created_at: string;
            /** @description Device. */
            device: components["schemas"]["DeviceName"];
            /**
             * Format: date-time
             * @description When the verdict was written.
             */
            finished_at?: string | null;
            /** @description The newest judging. */
            judging_id: components["schemas"]["JudgingId"];
            kind?: components["schemas"]["VerdictKind"] | null;
            /** @description One sentence for a person. */
            message?: string | null;
            /** @description Practice or ranked. */
            mode: components["schemas"]["Mode"];
            /** @description Problem and version. */
            problem: components["schemas"]["ProblemRef"];
            progress?: components["schemas"]["Progress"] | null;
            score?: components["schemas"]["Score"] | null;
            /** @description Where it stands. */
            status: components["schemas"]["Status"];
            /** @description Id. */
            submission_id: components["schemas"]["SubmissionId"];
            verdict?: components["schemas"]["Verdict"] | null;
        };
        /** @description `POST /api/v1/submissions`. */
        Submit: {
            /** @description Name of the device. */
            device: string;
            /** @description Ranked unless said otherwise. */
            mode?: components["schemas"]["Mode"];
            /** @description Slug of the problem; its newest version is judged. */
            problem: string;
            /** @description CUDA C++ text, 1 to 262144 bytes of UTF-8 without NUL. */
            source: string;
        };
        /** @description Answer to [`Submit`], with status 201. */
        Submitted: {
            /** @description Its first judging. */
            judging_id: components["schemas"]["JudgingId"];
            /** @description The submission. */
            submission_id: components["schemas"]["SubmissionId"];
        };
        /** @description What measures spans. */
        TimerRef: {
            /** @description Version of CUPTI's interface. */
            cupti?: string | null;
            /** @description Driver version, e.g. `13.0`. */
            driver: string;
            /** @description `cupti`, or `events` where CUPTI is missing and nothing is ranked. */
            name: string;
            /** @description Why nothing it measures is ranked, where that is so. */
            unranked?: string | null;
        };
        /** @description How one shape was timed. */
        Timing: {
            /**
             * Format: double
             * @description Half of the 95 % interval of the interquartile mean over all samples.
             */
            half_width_s: number;
            /**
             * Format: double
             * @description Median, over all samples, of the time that passed on the host meanwhile. No sample is longer than
             *     what passed during it.
             */
            host_wall_s?: number | null;
            /**
             * Format: int32
             * @description Runs that the timer missed something of, and that were done again.
             */
            missed_samples?: number;
            /**
             * Format: double
             * @description The same by the timer that measured `t_s`.
             */
            slope_by_timer_s?: number | null;
            /**
             * Format: double
             * @description For short runs: time of one run among many back to back, by CUDA events. Caches are warm and
             *     the gap between two nodes of a graph is inside, so that it is not `t_s`.
             */
            slope_s?: number | null;
            /**
             * Format: double
             * @description Median over the trials.
             */
            t_s: number;
            /** @description Whether the two slopes are within 10 % plus 0.1 us. */
            timers_agree?: boolean | null;
            /** @description Each trial. */
            trials: components["schemas"]["Trial"][];
            /**
             * Format: int32
             * @description Timed samples whose outputs were compared with the reference.
             */
            verified_samples: number;
        };
        /** @description The compiler, by version. */
        ToolchainRef: {
            /** @description CUPTI's version, where it timed. */
            cupti?: string | null;
            /** @description NVRTC's version, e.g. `13.5.37`. */
            nvrtc: string;
            /** @description Options handed to NVRTC. */
            options: string[];
        };
        /** @description One trial of one shape. */
        Trial: {
            /** @description Each sample, in order. */
            samples_s: number[];
            /**
             * Format: double
             * @description Interquartile mean of the samples.
             */
            t_s: number;
        };
        /**
         * Format: uuid
         * @description An account.
         */
        UserId: string;
        /** @description An account as others see it. */
        UserRef: {
            /** @description Name as shown on boards. */
            name: string;
            /** @description Id. */
            user_id: components["schemas"]["UserId"];
        };
        /**
         * @description The final word on a judging.
         * @enum {string}
         */
        Verdict: "accepted" | "wrong_answer" | "compile_error" | "plan_error" | "runtime_error" | "time_limit" | "memory_limit" | "output_limit" | "cancelled" | "held" | "rejected" | "unsupported" | "judge_error";
        /**
         * @description What exactly happened, within a verdict. One flat list: a kind belongs to one verdict.
         * @enum {string}
         */
        VerdictKind: "signature" | "unsupported_construct" | "fuel" | "launch_config" | "host_fault" | "diagnostics" | "compiler_crash" | "compile_limit" | "instruction_fuel" | "wall_clock" | "slower_than_baseline" | "opcode" | "illegal_address" | "misaligned" | "launch_failure" | "out_of_bounds" | "race" | "uninitialised_read" | "use_after_free" | "const_write" | "input_modified" | "barrier_divergence" | "deadlock" | "trap" | "assert";
        /** @description One row that breaks a rule of the queue. */
        Violation: {
            /** @description The rule, in words. */
            invariant: string;
            /** @description Id of the row. */
            subject: string;
        };
        /**
         * Format: uuid
         * @description A registered worker.
         */
        WorkerId: string;
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    devices: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeviceList"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    judging: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["schemas"]["JudgingId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Judging"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    judging_code: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["schemas"]["JudgingId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "arch": "sm_90a",
                     *       "judging_id": "0190b5a0-0000-7000-8000-000000000001",
                     *       "no_sass": null,
                     *       "ptx": {
                     *         "lines_left_out": 0,
                     *         "parts": [
                     *           {
                     *             "kind": "kernel",
                     *             "name": "scale<256>",
                     *             "source_lines": [
                     *               3,
                     *               3,
                     *               null
                     *             ],
                     *             "text": "ld.global.f32 %f1, [%rd4];\nadd.f32 %f2, %f1, %f1;\nret;"
                     *           }
                     *         ]
                     *       },
                     *       "sass": {
                     *         "lines_left_out": 0,
                     *         "parts": [
                     *           {
                     *             "kind": "kernel",
                     *             "name": "scale<256>",
                     *             "source_lines": [
                     *               null,
                     *               2
                     *             ],
                     *             "text": "_Z5scaleILi256EEvPf:\n    /*0000*\/       LDC R1, c[0x0][0x28] ;"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["JudgingCode"];
                };
            };
            /** @description `not_found`: no such judging, or none whose source the caller may read. `no_code`: it is not over, or nothing was compiled. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    operator_invariants: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvariantReport"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    problems: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemList"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    problem: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemDetail"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    board: {
        parameters: {
            query?: {
                /** @description At most this many entries; 100 unless said otherwise, 1000 at most. */
                limit?: number;
            };
            header?: never;
            path: {
                slug: string;
                device: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Board"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    submissions: {
        parameters: {
            query?: {
                /** @description Slug: only submissions to this problem. */
                problem?: string;
                /** @description Only submissions older than this one: `next_before` of the page before. */
                before?: components["schemas"]["SubmissionId"];
                /** @description At most this many; 20 unless said otherwise, 100 at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubmissionList"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    submit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Submit"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Submitted"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    submission: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["schemas"]["SubmissionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Submission"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["schemas"]["SubmissionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Submission"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    events: {
        parameters: {
            query?: {
                /** @description Number of the last event seen; the header `Last-Event-ID: submission:seq` goes before it. */
                after?: number;
            };
            header?: never;
            path: {
                id: components["schemas"]["SubmissionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["Event"];
                };
            };
            /** @description Nothing can follow */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    worker_heartbeat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["schemas"]["AttemptId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Heartbeat"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatAnswer"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    worker_progress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["schemas"]["AttemptId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProgressReport"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    worker_report: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["schemas"]["AttemptId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AttemptReport"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportAnswer"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    worker_claim: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClaimRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimAnswer"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    worker_register: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Register"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registered"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description Not a success: the code says why. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
}
