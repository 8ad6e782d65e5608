import { rowsOfChunk } from "@tidemark/archive";
import type { Organization } from "@tidemark/proto/control/v1/control";
import type { ExportedPoints, ExportedSeries, ExportedTableRows } from "@tidemark/proto/imports/v1/export";
import type { PointColumns } from "@tidemark/proto/ingest/v1/ingest";
import { writeJson } from "../../http/json.ts";
import { organizationJson } from "../organizations/rows.ts";
import { requireMessage } from "../replies.ts";

/** Returns the row of the organization as JSON. */
export function organizationText(organization: Organization): string {
  return writeJson(organizationJson(organization));
}

/** The aggregates of a metric key; what a double cannot hold is null, and so is all but the count of a key without finite values. */
export type SeriesRow = {
  readonly run_id: string;
  readonly key: string;
  readonly count: number;
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
  readonly variance: number | null;
  readonly latest: number | null;
  readonly latest_step: number | null;
  readonly best: number | null;
  readonly best_step: number | null;
  /** Left out where all values are finite. */
  readonly non_finite?: number;
  readonly non_finite_step?: number;
};

/** Returns the rows of aggregates. */
export function seriesRows({ aggregates, keys }: ExportedSeries): SeriesRow[] {
  const columns = requireMessage(aggregates);
  return columns.keys.slice(0, keys).map((key, i) => ({
    run_id: columns.runId,
    key,
    count: columns.count[i]!,
    min: finite(columns.min[i]!),
    max: finite(columns.max[i]!),
    mean: finite(columns.mean[i]!),
    variance: finite(columns.variance[i]!),
    latest: finite(columns.latest[i]!),
    latest_step: finite(columns.latestStep[i]!),
    best: finite(columns.best[i]!),
    best_step: finite(columns.bestStep[i]!),
    ...(columns.nonFinite[i]! > 0
      ? { non_finite: columns.nonFinite[i]!, non_finite_step: columns.nonFiniteStep[i]! }
      : {}),
  }));
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** Points that are written together, so that no piece of an answer is large. */
const POINTS_TOGETHER = 8192;

/** Points of one key, at most `POINTS_TOGETHER` of them. */
export type PointsPiece = { readonly key: string; readonly points: PointColumns };

/** Cuts points into pieces. */
export function* pointPieces({ keys }: ExportedPoints): Generator<PointsPiece, void, undefined> {
  for (const { key, points: found } of keys) {
    const points = requireMessage(found);
    const { steps, values, createdUs, timestampsUs } = points;
    for (let from = 0; from < steps.length; from += POINTS_TOGETHER) {
      const cut = (column: number[]): number[] => column.slice(from, from + POINTS_TOGETHER);
      const columns = {
        steps: cut(steps),
        values: cut(values),
        createdUs: cut(createdUs),
        timestampsUs: cut(timestampsUs),
      };
      yield { key, points: { ...points, ...columns } };
    }
  }
}

/** A row of a table, and what else its line shows. */
export type TableRow = {
  readonly objectId: number;
  readonly index: number;
  readonly createdAt: string;
  readonly text: string;
};

/** Returns rows of a table, each as JSON. */
export function* tableRows(
  { runId, objectId, firstRow, chunk, rows, createdAt }: ExportedTableRows,
  orgId: string,
): Generator<TableRow, void, undefined> {
  const head = `{"org_id":"${orgId}","run_id":"${runId}","attribute_id":${objectId},"row_index":`;
  const end = `,"created_at":"${createdAt}"}`;
  for (const [i, row] of rowsOfChunk(requireMessage(chunk), 0, rows).entries()) {
    const index = firstRow + i;
    yield { objectId, index, createdAt, text: `${head}${index},"row":${row}${end}` };
  }
}
