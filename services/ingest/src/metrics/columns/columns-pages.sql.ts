import { binarySql, float8Array, int4Array, type Tx } from "@tidemark/pg";
import { readFacts } from "../read/metric-series.sql.ts";
import { createPageBuilder, ROW_KINDS, type ColumnsPage } from "./columns-page.rules.ts";
import type { SourceFacts } from "./series-columns.rules.ts";
import type { ReadPlan } from "./read-plan.rules.ts";

const listFacts = binarySql("ingest_metric_facts", "SELECT version, facts FROM ingest.metric_facts($1, $2, $3)");

/** The facts of some keys in a run, with the version of the run. */
export type RunFacts = { readonly version: number; readonly keys: SourceFacts };

/** Returns the facts of some keys in some runs, in the order of the runs; an id may be repeated. */
export async function listRunFacts(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
  keys: readonly string[],
): Promise<RunFacts[]> {
  const found: RunFacts[] = [];
  await tx.each<{ version: number; facts: Buffer | null }>(listFacts, [orgId, runIds, keys], ({ version, facts }) => {
    found.push({ version, keys: readFacts(facts) });
  });
  return found;
}

const columnsPage = binarySql(
  "ingest_metric_columns_page",
  `SELECT kind, index, entry, tier, seq, first_key AS "firstKey", received_us AS "receivedUs", steps, times, section
   FROM ingest.metric_columns_page($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
);

type RawRow = {
  kind: keyof typeof ROW_KINDS | "more";
  index: number;
  entry: number | null;
  tier: number;
  seq: number;
  firstKey: number;
  receivedUs: number | null;
  steps: Buffer | null;
  times: Buffer | null;
  section: Buffer;
};

/** A part of a plan that one statement reads: its sources and entries `[from, to)`. */
export type PlanPart = { readonly sources: readonly [number, number]; readonly entries: readonly [number, number] };

/** Where a page of a part begins: after `tier`, `seq` and `firstKey` in a source, counted from 1 in the part. */
export type PageCursor = {
  readonly source: number;
  readonly tier: number;
  readonly seq: number;
  readonly firstKey: number;
};

/** Where the first page begins. */
export const PAGE_BEGIN: PageCursor = { source: 1, tier: 1, seq: -1, firstKey: -1 };

/**
 * Reads the stored points of the entries of a part from a position on, up to about `bytesMax` bytes or a fourth as many points, and returns it with where the
 * next page begins; undefined when there is none.
 */
export async function readColumnsPage(
  tx: Tx,
  orgId: string,
  plan: ReadPlan,
  part: PlanPart,
  cursor: PageCursor,
  bytesMax: number,
): Promise<{ readonly page: ColumnsPage; readonly next: PageCursor | undefined }> {
  const [firstSource, lastSource] = part.sources;
  const sources = plan.sources.slice(firstSource, lastSource);
  const entries = plan.entries.slice(...part.entries);
  const doubles = (of: (entry: (typeof entries)[number]) => number): unknown => float8Array(entries.map(of));
  const builder = createPageBuilder();
  let next: PageCursor | undefined;
  const values = [
    orgId,
    sources.map(({ runId }) => runId),
    float8Array(sources.map(({ cutStep }) => Math.min(cutStep, plan.to))),
    int4Array(entries.map(({ source }) => source - firstSource + 1)),
    int4Array(entries.map(({ facts }) => facts.keyId)),
    doubles(({ facts }) => facts.firstStep),
    doubles(({ facts }) => facts.lastStep),
    int4Array(entries.map(({ mode }) => mode)),
    doubles(({ grid }) => grid?.low ?? 0),
    doubles(({ grid }) => grid?.span ?? 0),
    plan.from,
    // All grids of a plan have as many parts.
    entries.find(({ grid }) => grid !== undefined)?.grid?.buckets ?? 0,
    plan.pointsMax ?? null,
    plan.withEdges,
    cursor.source,
    cursor.tier,
    cursor.seq,
    cursor.firstKey,
    bytesMax,
  ];
  await tx.each<RawRow>(columnsPage, values, (row) => {
    const { kind, index, entry, receivedUs, steps, times, section } = row;
    if (kind === "more") next = { source: index, tier: row.tier, seq: row.seq, firstKey: row.firstKey };
    else
      builder.add(
        {
          kind: ROW_KINDS[kind],
          source: firstSource + index - 1,
          entry: entry === null ? -1 : part.entries[0] + entry - 1,
          receivedUs: receivedUs ?? 0,
        },
        { steps, times, section },
      );
  });
  return { page: builder.take(), next };
}
