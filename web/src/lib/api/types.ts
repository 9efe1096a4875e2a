// Short names for the API's types. The one place that knows how the generated file spells them.

import type { components } from './schema';

type Schemas = components['schemas'];

export type Account = Schemas['Account'];
export type AxisView = Schemas['AxisView'];
export type Board = Schemas['Board'];
export type BoardEntry = Schemas['BoardEntry'];
export type Bound = Schemas['Bound'];
export type CodePart = Schemas['CodePart'];
export type CodeText = Schemas['CodeText'];
export type Counters = Schemas['Counters'];
export type DeviceName = Schemas['DeviceName'];
export type DeviceView = Schemas['DeviceView'];
export type Diagnostic = Schemas['Diagnostic'];
export type Event = Schemas['Event'];
export type Judging = Schemas['Judging'];
export type JudgingCode = Schemas['JudgingCode'];
export type KernelResources = Schemas['KernelResources'];
export type Localized = Schemas['Localized'];
export type Mode = Schemas['Mode'];
export type OutputMismatch = Schemas['OutputMismatch'];
export type Phase = Schemas['Phase'];
export type PhaseTimes = Schemas['PhaseTimes'];
export type ProblemBody = Schemas['ProblemBody'];
export type ProblemDetail = Schemas['ProblemDetail'];
export type ProblemSummary = Schemas['ProblemSummary'];
export type Progress = Schemas['Progress'];
export type Report = Schemas['Report'];
export type Score = Schemas['Score'];
export type ScoreMetric = Schemas['ScoreMetric'];
export type ShapeReport = Schemas['ShapeReport'];
export type Status = Schemas['Status'];
export type StratumView = Schemas['StratumView'];
export type Submission = Schemas['Submission'];
export type SubmissionSummary = Schemas['SubmissionSummary'];
export type Submitted = Schemas['Submitted'];
export type Verdict = Schemas['Verdict'];
export type VerdictKind = Schemas['VerdictKind'];
