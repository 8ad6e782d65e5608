import type { RunFields } from "@tidemark/run-state";
import type { ExactValue } from "./exact-value.ts";

/** The state of a run's stop request, as the API returns it. */
export type RunControl = {
  readonly stop_state: "none" | "requested" | "acknowledged" | "completed" | "terminal_without_completion";
  readonly display_status: "running" | "stopping" | "stopped" | "finished" | "failed";
  readonly stop_request_id: string | null;
  readonly actor: string | null;
  readonly stop_requested_at: string | null;
  readonly stop_acknowledged_at: string | null;
  readonly stop_completed_at: string | null;
  readonly reason?: string | null;
  readonly completion_message?: string | null;
};

/** Values that are no numbers in JSON, as the API writes them. */
export type NonFiniteText = "NaN" | "Infinity" | "-Infinity";

/** The aggregate of a metric of a run. */
export type Aggregate = {
  readonly latest: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
  readonly count: number;
  readonly best: number | null;
  readonly best_step: number | null;
  /** How many values are NaN or infinite, the highest step of these, and that of the latest finite value; all undefined without any. */
  readonly non_finite?: number;
  readonly non_finite_step?: number;
  readonly latest_step?: number | null;
};

/** Whether the newest value of a metric is NaN or infinite. A finite one at the same step counts as newer. */
export const isNewestNonFinite = ({ non_finite_step: other, latest_step: finite = null }: Aggregate): boolean =>
  other !== undefined && (finite === null || other > finite);

/** A run, as lists and relatives return it. */
export type RunRow = RunFields<null> & {
  readonly id: string;
  readonly project_id: string;
  readonly project: string;
  readonly name: string;
  readonly status: "running" | "finished" | "failed";
  readonly config: { readonly [key: string]: ExactValue };
  readonly tags: readonly string[];
  readonly metadata: { readonly [key: string]: ExactValue };
  readonly notes: string | null;
  readonly created_at: string;
  readonly started_at: string;
  readonly resume_count: number;
  readonly last_seen_at: string;
  readonly stale: boolean;
  readonly deleted_at?: string | null;
  readonly run_control: RunControl;
};

/** A run with its metrics. */
export type RunDetail = RunRow & {
  readonly metric_aggregates: { readonly [key: string]: Aggregate };
  readonly metric_keys: readonly string[];
  readonly metric_keys_total: number;
  readonly artifact_counts: { readonly checkpoint: number; readonly rollout: number; readonly file: number };
};

/** An attribute of a run. */
export type AttributeRow = {
  readonly id: number;
  readonly path: string;
  readonly type: string;
  readonly step: number | null;
  readonly value: ExactValue;
  readonly logged_at: string;
};
