import { runTabs, type RunTab } from "../../app/addresses.ts";
import type { RunFields } from "@tidemark/run-state";
import type { ConfigValue } from "./config-rows.ts";
import type { RunControl } from "./stop-words.ts";

/** The aggregate of a metric of a run. */
export type Aggregate = {
  readonly latest: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
  readonly count: number;
  readonly best: number | null;
  readonly best_step: number | null;
};

/** A run, as lists and relatives return it. */
export type RunRow = RunFields<null> & {
  readonly id: string;
  readonly project_id: string;
  readonly project: string;
  readonly name: string;
  readonly status: "running" | "finished" | "failed";
  readonly config: { readonly [key: string]: ConfigValue };
  readonly tags: readonly string[];
  readonly metadata: { readonly [key: string]: ConfigValue };
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
  readonly value: ConfigValue;
  readonly logged_at: string;
};

/** The tabs of a run with what they are called, in the order of their keys. */
export const RUN_TABS = runTabs.map((id) => ({ id, label: `${id.charAt(0).toUpperCase()}${id.slice(1)}` }));

/** Returns the tab that an address names; the overview where it names none. */
export function runTabOf(name: string | undefined): RunTab {
  return RUN_TABS.find(({ id }) => id === name)?.id ?? "overview";
}
