import { ARTIFACTS_ROWS } from "@tidemark/limits";
import type { PlannedRun } from "./export-plan.ts";
import type { Part, Reading } from "./reading.ts";

/** Runs that one request names. */
const RUNS = 100;

/** Reads the rows of runs in their order. */
export async function* exportRunRows(
  { clients, newCall }: Reading,
  planned: readonly PlannedRun[],
): AsyncGenerator<Part> {
  for (let at = 0; at < planned.length;) {
    const runIds = planned.slice(at, at + RUNS).map(({ runId }) => runId);
    const { runs } = await clients.runs.readRuns({ runIds }, newCall());
    yield { case: "runs", value: { runs } };
    at += runs.length;
  }
}

/** Reads the artifacts of runs, by run, newest first. */
export async function* exportArtifacts(
  { clients, newCall, allowance }: Reading,
  planned: readonly PlannedRun[],
): AsyncGenerator<Part> {
  for (const { runId, artifacts: count } of planned) {
    if (count === 0) continue;
    let cursor = "";
    do {
      const limit = Math.min(allowance.left() + 1, ARTIFACTS_ROWS.max);
      const page = await clients.artifacts.pageArtifacts({ runId, limit, cursor }, newCall());
      const artifacts = [...allowance.take(page.artifacts)];
      if (artifacts.length > 0) yield { case: "artifacts", value: { artifacts } };
      if (allowance.isExceeded()) return;
      cursor = page.nextCursor;
    } while (cursor !== "");
  }
}

/** Reads the rows of the tables of runs, by run and table, in the order of their tables among the attributes. */
export async function* exportTableRows(
  { clients, newCall, allowance }: Reading,
  planned: readonly PlannedRun[],
): AsyncGenerator<Part> {
  for (const { runId, objectKinds } of planned) {
    if (!objectKinds.includes("table")) continue;
    let cursor = "";
    do {
      const { tables, nextCursor } = await clients.ingestRead.pageTableRows({ runId, cursor }, newCall());
      const found = tables.reduce((sum, { chunk }) => sum + (chunk?.rowCount ?? 0), 0);
      const rows = allowance.takeCount(found);
      if (rows > 0) yield { case: "tableRows", value: { runId, tables, rows } };
      if (allowance.isExceeded()) return;
      cursor = nextCursor;
    } while (cursor !== "");
  }
}
