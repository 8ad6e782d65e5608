import { TABLE_CHUNK_ROWS } from "@tidemark/limits";
import { ObjectParts } from "@tidemark/proto/ingest/v1/archive";
import { groupsOf, RUNS_TOGETHER } from "../archive/selected-runs.ts";
import type { Part, PlannedRun, Reading } from "./reading.ts";

/** Reads the rows of runs in their order. */
export async function* exportRunRows(
  { clients, newCall }: Reading,
  planned: readonly PlannedRun[],
): AsyncGenerator<Part> {
  for (let at = 0; at < planned.length;) {
    const runIds = planned.slice(at, at + RUNS_TOGETHER).map(({ runId }) => runId);
    const { runs } = await clients.runs.readRuns({ runIds }, newCall());
    yield { case: "runs", value: { runs } };
    at += runs.length;
  }
}

/** Reads the artifacts of runs, by run, newest first. */
export async function* exportArtifacts(
  { clients, call, allowance }: Reading,
  planned: readonly PlannedRun[],
): AsyncGenerator<Part> {
  const runIds = planned.filter(({ artifacts }) => artifacts > 0).map(({ runId }) => runId);
  for (const group of groupsOf(runIds)) {
    const of = { runIds: group, byPage: true };
    for await (const page of clients.artifactsArchive.exportArtifacts(of, call)) {
      const artifacts = [...allowance.take(page.artifacts)];
      if (artifacts.length > 0) yield { case: "artifacts", value: { artifacts } };
      if (allowance.isExceeded()) return;
    }
  }
}

/** Reads the rows of the tables of runs, by run and table, in the order of their tables among the attributes. */
export async function* exportTableRows(
  { clients, call, allowance }: Reading,
  planned: readonly PlannedRun[],
): AsyncGenerator<Part> {
  const runIds = planned.filter(({ objectKinds }) => objectKinds.includes("table")).map(({ runId }) => runId);
  for (const group of groupsOf(runIds)) {
    const of = { runIds: group, byPage: true, parts: ObjectParts.TABLE_ROWS };
    let table = { runId: "", objectId: 0, createdAt: "" };
    let firstRow = 0;
    for await (const { rows } of clients.ingestArchive.exportObjects(of, call)) {
      if (rows.case === "object") {
        table = { runId: rows.value.runId, objectId: rows.value.id, createdAt: rows.value.createdAt };
        firstRow = 0;
      } else if (rows.case === "tableRows") {
        const taken = allowance.takeCount(rows.value.rowCount);
        if (taken > 0) yield { case: "tableRows", value: { ...table, firstRow, chunk: rows.value, rows: taken } };
        if (allowance.isExceeded()) return;
        firstRow += TABLE_CHUNK_ROWS;
      }
    }
  }
}

/** Reads the aggregates of the metric keys of runs, by run and key. */
export async function* exportSeries(
  { clients, call, allowance }: Reading,
  runs: readonly PlannedRun[],
): AsyncGenerator<Part> {
  const runIds = runs.filter(({ metricKeys }) => metricKeys > 0).map(({ runId }) => runId);
  for (const group of groupsOf(runIds)) {
    for await (const page of clients.ingestArchive.exportMetricAggregates({ runIds: group }, call)) {
      const keys = allowance.takeCount(page.keys.length);
      if (keys > 0) yield { case: "series", value: { aggregates: page, keys } };
      if (allowance.isExceeded()) return;
    }
  }
}

/** Reads the points of runs, by run, key, step and arrival. An answer has at most as many points as an export. */
export async function* exportPoints(
  { clients, newCall, allowance }: Reading,
  runs: readonly PlannedRun[],
): AsyncGenerator<Part> {
  for (const { runId, points } of runs) {
    if (points === 0) continue;
    const limit = allowance.left();
    if (limit === 0) {
      allowance.takeCount(points);
      return;
    }
    const { keys, truncated } = await clients.ingestRead.listMetricPoints({ runId, limit }, newCall());
    const read = keys.reduce((sum, key) => sum + (key.points?.steps.length ?? 0), 0);
    allowance.takeCount(truncated ? read + 1 : read);
    yield { case: "points", value: { runId, keys } };
  }
}
