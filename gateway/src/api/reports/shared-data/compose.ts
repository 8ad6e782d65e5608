import { create } from "@bufbuild/protobuf";
import { isAppError } from "@tidemark/errors";
import { VIEW_POINTS, VIEW_RUNS_MAX } from "@tidemark/limits";
import { CallerKind, IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import type { QuerySeriesColumnsResponse } from "@tidemark/proto/ingest/v1/ingest";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../../clients.ts";
import { requireMessage } from "../../replies.ts";
import { VIEW_POINTS_TOTAL_MAX } from "../../view-data/read.ts";
import { keysOfColumns, type ShownRun } from "./columns.ts";
import { readGrids, type SharedGrid } from "./grids.ts";

/** The data of a block of panels. */
type GridData = {
  readonly grid: SharedGrid;
  readonly runs: readonly ShownRun[];
  /** Those of the first key in the order of the runs, then those of the next. */
  readonly series: QuerySeriesColumnsResponse["series"];
};

/** The data of the panels of a report. */
export type SharedData = {
  readonly grids: readonly GridData[];
  /** Points or parts that each series may have. */
  readonly pointsPerSeries: number;
  readonly warnings: readonly string[];
  /** RFC 3339. */
  readonly generatedAt: string;
};

/** A report whose panels are shown to the holders of a link. */
type SharedReport = {
  readonly shareId: string;
  readonly orgId: string;
  /** Empty: none. */
  readonly projectId: string;
  readonly blocksJson: Uint8Array;
};

/**
 * Returns who the holders of a link are for the services: readers of the organization, of a report's own project where it has one. Who may write reports of
 * one project only, writes those of that project: panels of its choice must not show runs that it cannot see.
 */
function holderOf({ shareId, orgId, projectId }: Omit<SharedReport, "blocksJson">): Identity {
  const scopes = ["export:read"];
  return create(IdentitySchema, { kind: CallerKind.ANONYMOUS, credentialId: shareId, orgId, projectId, scopes });
}

/** Runs of a project that are shown where none is pinned. */
const NEWEST = 10;

type Readers = Pick<Clients, "runs" | "ingestRead">;

const utf8 = new TextDecoder();

/** Reads the data of the panels of a report, as the holders of its link may. Runs that are gone are left out. @throws bad_request */
export async function composeSharedData(clients: Readers, report: SharedReport, call: Call): Promise<SharedData> {
  const { grids, warnings } = readGrids(JSON.parse(utf8.decode(report.blocksJson)) as unknown[]);
  const ownCall = { ...call, identity: holderOf(report) };
  const read = async (): Promise<SharedData> => {
    const shown = await readRuns(clients, grids, ownCall);
    const seriesCount = shown.reduce((sum, { grid, runs }) => sum + grid.lineKeys.length * runs.length, 0);
    const pointsPerSeries = Math.min(
      VIEW_POINTS.max,
      Math.max(1, Math.floor(VIEW_POINTS_TOTAL_MAX / Math.max(1, seriesCount))),
    );
    const data: GridData[] = [];
    // One after the other, so that a link does not keep others waiting.
    for (const { grid, runs } of shown) {
      data.push({ grid, runs, series: await readSeries(clients, grid, runs, pointsPerSeries, ownCall) });
    }
    return { grids: data, pointsPerSeries, warnings, generatedAt: new Date().toISOString() };
  };
  try {
    return await read();
  } catch (error) {
    // A run was deleted in between.
    if (isAppError(error) && error.reason === "not_found") return read();
    throw error;
  }
}

/** Returns those of some runs that the holders of a link may see. */
export async function visibleRuns(
  { runs }: Pick<Clients, "runs">,
  report: Omit<SharedReport, "blocksJson">,
  runIds: readonly string[],
  call: Call,
): Promise<ReadonlySet<string>> {
  if (runIds.length === 0) return new Set();
  const found = await runs.selectRuns(
    { runIds: [...runIds], skipMissing: true },
    { ...call, identity: holderOf(report) },
  );
  return new Set(found.runs.map(({ runId }) => runId));
}

async function readRuns(
  { runs }: Readers,
  grids: readonly SharedGrid[],
  call: Call,
): Promise<{ readonly grid: SharedGrid; readonly runs: readonly ShownRun[] }[]> {
  const seen = new Set<string>();
  const shown: { grid: SharedGrid; runs: readonly ShownRun[] }[] = [];
  for (const grid of grids) {
    const asked =
      grid.runIds.length > 0
        ? [await runs.selectRuns({ runIds: [...grid.runIds], skipMissing: true }, call)]
        : await Promise.all(
            grid.projects.map((project) =>
              runs.selectRuns({ filter: { project }, order: { sortBy: "created" }, limit: NEWEST }, call),
            ),
          );
    const ids = asked.flatMap((answer) => answer.runs.map(({ runId }) => runId));
    const runIds = [...new Set(ids)].filter((id) => seen.has(id) || (seen.size < VIEW_RUNS_MAX && seen.add(id)));
    const metricKeys = keysOfColumns(grid.columns.values());
    shown.push({ grid, runs: runIds.length === 0 ? [] : await readSummaries(runs, runIds, metricKeys, call) });
  }
  return shown;
}

/** Keys of one read of runs. */
const KEYS_TOGETHER = 50;

/** Reads runs with the figures of any number of keys. */
async function readSummaries(
  runs: Clients["runs"],
  runIds: string[],
  keys: readonly string[],
  call: Call,
): Promise<readonly ShownRun[]> {
  const answers = await Promise.all(
    Array.from({ length: Math.max(1, Math.ceil(keys.length / KEYS_TOGETHER)) }, (_, i) =>
      runs.getRuns({ runIds, metricKeys: keys.slice(i * KEYS_TOGETHER, (i + 1) * KEYS_TOGETHER) }, call),
    ),
  );
  return answers[0]!.runs.map(({ run, runControl }, i) => ({
    run: requireMessage(run),
    status: requireMessage(runControl).displayStatus,
    metrics: answers.map((answer) => requireMessage(requireMessage(answer.runs[i]).metrics)),
  }));
}

async function readSeries(
  { ingestRead }: Readers,
  { lineKeys }: SharedGrid,
  runs: readonly ShownRun[],
  buckets: number,
  call: Call,
): Promise<QuerySeriesColumnsResponse["series"]> {
  if (lineKeys.length === 0 || runs.length === 0) return [];
  const runIds = runs.map(({ run }) => run.id);
  const answer = await ingestRead.querySeriesColumns({ keys: [...lineKeys], runIds, limit: buckets, buckets }, call);
  return answer.series;
}
