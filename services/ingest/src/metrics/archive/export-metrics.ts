import type { MessageInitShape } from "@bufbuild/protobuf";
import { bytesOfColumn } from "@tidemark/archive";
import {
  KEY_RANGE_WIDTHS,
  blockColumnsOfSegment,
  concatColumns,
  countValues,
  decodeBlock,
  decodeSegment,
  type BlockColumns,
} from "@tidemark/codecs/metrics";
import type { Db, Tx } from "@tidemark/pg";
import type {
  ExportPointsRequestSchema,
  ExportPointsResponseSchema,
  ExportMetricAggregatesRequestSchema,
  ExportMetricAggregatesResponseSchema,
} from "@tidemark/proto/ingest/v1/archive";
import { exportedRuns, type RunDirectory } from "@tidemark/requests";
import type { StreamHandler } from "@tidemark/rpc";
import {
  findPointRuns,
  listMetricKeys,
  readBlocks,
  readSegments,
  type PointRun,
  pageMetricAggregates,
  type FIGURES,
} from "./exported-metrics.sql.ts";

/** Landing segments are joined up to this many values and points. */
const JOINED_VALUES = 65_536;
const JOINED_POINTS = 4096;

/** Key ranges from the narrowest up: for any key, blocks of narrow ranges are older than those of wider ones. */
const NARROW_FIRST = KEY_RANGE_WIDTHS.toReversed();
const WIDEST = KEY_RANGE_WIDTHS[0];

/** IngestArchiveService.ExportPoints: decodes each block once, with all of its keys. @throws bad_request, not_found */
export function exportPointsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): StreamHandler<typeof ExportPointsRequestSchema, typeof ExportPointsResponseSchema> {
  return async function* (request, call) {
    const { orgId, runIds } = await exportedRuns(deps.runs, request.runIds, call);
    yield* deps.db.streamTenant(
      orgId,
      async function* (tx) {
        for (const run of await findPointRuns(tx, orgId, runIds)) {
          const keys = await listMetricKeys(tx, orgId, run.runId);
          for await (const columns of columnsOfRun(tx, orgId, run)) yield messageOf(run.runId, keys, columns);
        }
      },
      { plans: "walks" },
    );
  };
}

/** Reads the points of a run, for each key in the order of arrival. */
async function* columnsOfRun(
  tx: Tx,
  orgId: string,
  { runId, keyCount, widths }: PointRun,
): AsyncGenerator<BlockColumns, void, undefined> {
  for (let from = 0; from < keyCount; from += WIDEST) {
    for (const width of NARROW_FIRST) {
      if (!widths.includes(width)) continue;
      for await (const data of readBlocks(tx, orgId, runId, { width, from, to: from + WIDEST }))
        yield decodeBlock(data);
    }
  }
  let joined: BlockColumns[] = [];
  let values = 0;
  let points = 0;
  for await (const segment of readSegments(tx, orgId, runId)) {
    const columns = blockColumnsOfSegment(decodeSegment(segment.points), segment.receivedUs);
    if (joined.length > 0 && (values >= JOINED_VALUES || points + columns.steps.length > JOINED_POINTS)) {
      yield concatColumns(joined);
      joined = [];
      values = 0;
      points = 0;
    }
    joined.push(columns);
    values += countValues(columns);
    points += columns.steps.length;
  }
  if (joined.length > 0) yield concatColumns(joined);
}

function messageOf(
  runId: string,
  keys: readonly string[],
  columns: BlockColumns,
): MessageInitShape<typeof ExportPointsResponseSchema> {
  return {
    runId,
    keys: Array.from(columns.keyIds, (id) => keys[id]!),
    steps: bytesOfColumn(columns.steps),
    createdUs: bytesOfColumn(columns.receivedUs),
    timestampsUs: bytesOfColumn(columns.timestampsUs),
    values: bytesOfColumn(columns.values),
    offsets: bytesOfColumn(columns.offsets),
    pointIndexes: bytesOfColumn(columns.pointIndexes),
  };
}

/** Keys of a page. */
const PAGE_KEYS = 5000;

/** IngestArchiveService.ExportMetricAggregates. @throws bad_request, not_found */
export function exportMetricAggregatesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): StreamHandler<typeof ExportMetricAggregatesRequestSchema, typeof ExportMetricAggregatesResponseSchema> {
  return async function* (request, call) {
    const { orgId, runIds } = await exportedRuns(deps.runs, request.runIds, call);
    for (const runId of runIds) {
      for (let after = ""; ;) {
        const rows = await deps.db.readTenant(orgId, (tx) => pageMetricAggregates(tx, orgId, runId, after, PAGE_KEYS), {
          plans: "walks",
        });
        const last = rows.at(-1);
        if (last === undefined) break;
        const column = (figure: (typeof FIGURES)[number]): number[] => rows.map((row) => row[figure] ?? Number.NaN);
        yield {
          runId,
          keys: rows.map(({ key }) => key),
          count: column("count"),
          min: column("min"),
          max: column("max"),
          mean: column("mean"),
          variance: column("variance"),
          latest: column("latest"),
          latestStep: column("latest_step"),
          best: column("best"),
          bestStep: column("best_step"),
          nonFinite: column("non_finite"),
          nonFiniteStep: column("non_finite_step"),
        };
        if (rows.length < PAGE_KEYS) break;
        after = last.key;
      }
    }
  };
}
