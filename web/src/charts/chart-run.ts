import type { ChartRun } from "./section/types.ts";

/** The fields of a run, as lists and answers give them, that matter to charts. */
export type RunOfList = {
  readonly id: string;
  readonly name: string;
  readonly started_at: string;
  readonly status: string;
  readonly forked_from_step?: number | null;
};

/** Returns a run of a list as charts take it. */
export function chartRun({ id, name, started_at: startedAt, status, forked_from_step: step }: RunOfList): ChartRun {
  return { id, name, startedAt, running: status === "running", forkStep: step ?? undefined };
}
