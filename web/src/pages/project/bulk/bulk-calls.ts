import { call } from "../../../api/client.ts";
import { parts } from "../../../api/deletions.ts";
import { runsPath, type RunsPage } from "../runs/shown-runs.ts";
import type { BulkAction, BulkRun, BulkStep } from "./bulk.ts";

/** More runs than this are not changed at a time. */
const BULK_MAX = 10_000;

const PAGE = 1000;
const STOP_TOGETHER = 100;

/** How far an action has come. */
export type Progress = (done: number) => void;

/** Reads all runs that a search finds, at most `BULK_MAX`. @throws ApiError */
export async function readMatching(projectId: string, q: string, signal: AbortSignal): Promise<readonly BulkRun[]> {
  const found: BulkRun[] = [];
  for (let offset = 0; offset < BULK_MAX; offset += PAGE) {
    const path = runsPath({ projectId, q, sortBy: "created", dir: "desc", columns: [] }, offset, PAGE);
    const { runs } = await call<RunsPage>(path, { signal });
    found.push(...runs.map(({ id, name, tags, notes, status, stale }) => ({ id, name, tags, notes, status, stale })));
    if (runs.length < PAGE) break;
  }
  return found;
}

type Answer = {
  readonly matched: number;
  readonly updated: number;
  readonly failed: number;
  readonly results: readonly { readonly ok: boolean; readonly error?: string }[];
};

/** Asks the server how many runs some steps would change; nothing changes. @throws ApiError */
export async function countChanges(
  steps: readonly BulkStep[],
): Promise<{ readonly matched: number; readonly failed: number }> {
  let matched = 0;
  let failed = 0;
  for (const { ids, set } of steps) {
    const answer = await call<Answer>("/api/runs/bulk-update", { body: { run_ids: ids, set, dry_run: true } });
    matched += answer.matched;
    failed += answer.failed;
  }
  return { matched, failed };
}

/** Does steps one after the other, and resumes a request whose time was up. Returns how many runs did not change. @throws ApiError */
export async function doSteps(steps: readonly BulkStep[], progress: Progress): Promise<number> {
  let done = 0;
  let failed = 0;
  for (const { ids, set } of steps) {
    const headers = { "idempotency-key": crypto.randomUUID() };
    for (;;) {
      const answer = await call<Answer>("/api/runs/bulk-update", { body: { run_ids: ids, set }, headers });
      const isPartly = answer.results.some(({ error }) => error === "not_reached");
      progress(done + answer.updated);
      if (isPartly) continue;
      failed += answer.failed;
      break;
    }
    done += ids.length;
    progress(done);
  }
  return failed;
}

/** Asks runs to stop, a hundred together. Returns how many could not be asked. @throws ApiError */
export async function stopRuns(runs: readonly BulkRun[], progress: Progress): Promise<number> {
  let done = 0;
  let failed = 0;
  for (const some of parts(runs, STOP_TOGETHER)) {
    const body = { run_ids: some.map(({ id }) => id) };
    const { results } = await call<{ results: readonly { ok: boolean }[] }>("/api/runs/stop", { body });
    failed += results.filter(({ ok }) => !ok).length;
    progress((done += some.length));
  }
  return failed;
}

/** The words of an action: on its button, and when it is done. */
export const ACTION_WORDS: Readonly<Record<BulkAction["kind"], readonly [title: string, verb: string, done: string]>> =
  {
    "add-tag": ["Add a tag", "Add tag", "Tagged"],
    "remove-tag": ["Remove a tag", "Remove tag", "Removed the tag from"],
    notes: ["Replace the notes", "Replace notes", "Replaced the notes of"],
    stop: ["Stop runs", "Stop runs", "Asked to stop"],
    end: ["Mark dead runs as failed", "Mark as failed", "Ended"],
    move: ["Move runs", "Move runs", "Moved"],
    copy: ["Copy runs", "Copy runs", "Copied"],
    delete: ["Delete runs", "Delete runs", "Deleted"],
  };
