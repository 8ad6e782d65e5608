import { createTraceFold, type TraceFold } from "../fold/totals.rules.ts";

/** The key of a trace. The id is 32 hexadecimal digits in lower case. */
export type TraceKey = { readonly orgId: string; readonly runId: string; readonly traceId: string };

/** The state of a trace in memory. */
export type TraceState = {
  readonly fold: TraceFold;
  /** The id of the last segment that is folded in; 0: none. */
  version: number;
  /** How many segments there were then. */
  segments: number;
  updatedUs: number;
};

/** Returns the state of an unknown trace. */
export function newTraceState(): TraceState {
  return { fold: createTraceFold(), version: 0, segments: 0, updatedUs: 0 };
}
