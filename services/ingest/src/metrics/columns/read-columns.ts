import { nextTurn, stopIfOver } from "@tidemark/work";
import { badRequest } from "@tidemark/errors";
import type { Grid } from "@tidemark/codecs/metrics";
import type { Db, Tx } from "@tidemark/pg";
import {
  listRunFacts,
  PAGE_BEGIN,
  readColumnsPage,
  type PageCursor,
  type PlanPart,
  type RunFacts,
} from "./columns-pages.sql.ts";
import {
  needsAllPoints,
  keysToRead,
  type ChartedRun,
  type ColumnsQuery,
  type SeriesColumns,
} from "./series-columns.rules.ts";
import type { ColumnsPage } from "./columns-page.rules.ts";
import { createColumnsReader } from "./columns-reader.rules.ts";
import { planRead, type ReadPlan } from "./read-plan.rules.ts";
import type { PageSink, SeriesThreads } from "./series-threads.ts";

/** Dependencies of reads of series. */
export type ColumnsDeps = { readonly db: Db; readonly seriesThreads: SeriesThreads };

/** Series of several keys in several runs. */
export type FoundColumns = {
  /** For each source of each run, in this order: a number that rises with every write of metrics. */
  readonly versions: readonly number[];
  /** By run, then by key. */
  readonly series: readonly (readonly SeriesColumns[])[];
  /** The parts by steps of the first series that has any; with `sharedGrid` those of all. Of another axis only with `sharedGrid`. */
  readonly grid: Grid | undefined;
};

/** How much is read at a time. */
export type ColumnsBounds = {
  /** Stored bytes that a statement returns, or four times the points. */
  readonly bytes: number;
  /** Series that one statement looks for, plus at most those of one more run. */
  readonly series: number;
};

/** A page is decoded without a break: half a million points take 15 ms. */
const BOUNDS: ColumnsBounds = { bytes: 2 * 1024 * 1024, series: 500 };

/** The most points that one read decodes, and that it needs as a whole: for smoothing, and for another axis than steps. */
const POINTS_MAX = 200_000_000;
const WHOLE_POINTS_MAX = 12_000_000;
/** The same where all series stay in memory until the range of all of them is known. */
const SHARED_AXIS_POINTS_MAX = 3_000_000;

/**
 * Reads series as columns: the points of each, or the buckets of a grid, with smoothing and by any axis. One transaction, which sees one snapshot.
 * Other work of the process runs between pages, and the read ends when its request does.
 * @throws bad_request for more points than one read may take, deadline_exceeded
 */
export function readColumns(
  { db, seriesThreads }: ColumnsDeps,
  orgId: string,
  query: ColumnsQuery,
  runs: readonly ChartedRun[],
  bounds = BOUNDS,
): Promise<FoundColumns> {
  const inTurn = <T>(work: (sink: (plan: ReadPlan) => PageSink) => Promise<T>): Promise<T> =>
    needsAllPoints(query) ? seriesThreads.use(orgId, work) : work(readHere);
  return inTurn((openSink) =>
    db.readTenant(orgId, async (tx) => {
      const { facts, versions } = await readAllFacts(tx, orgId, query, runs, bounds);
      const plan = planRead(query, runs, facts);
      requireFew(plan);
      const sink = openSink(plan);
      let points = 0;
      for await (const { page, pointsMax } of readPages(tx, orgId, plan, bounds)) {
        points += pointsMax;
        if (points > POINTS_MAX) throw tooManyPoints(POINTS_MAX);
        await sink.add(page);
        await nextTurn();
      }
      const [stepGrid] = plan.series.values().flatMap((own) => own.flatMap((one) => one.grid ?? []));
      const { series, grid } = await sink.finish();
      return { versions, series, grid: query.axis === "step" ? stepGrid : grid };
    }),
  );
}

function readHere(plan: ReadPlan): PageSink {
  return createColumnsReader(plan);
}

async function readAllFacts(
  tx: Tx,
  orgId: string,
  query: ColumnsQuery,
  runs: readonly ChartedRun[],
  { series }: ColumnsBounds,
): Promise<{ facts: RunFacts["keys"][][]; versions: number[] }> {
  const keys = keysToRead(query);
  const runIds = runs.flatMap(({ chain }) => chain.map(({ runId }) => runId));
  const each = Math.ceil(series / keys.length);
  const found: RunFacts[] = [];
  for (let from = 0; from < runIds.length; from += each) {
    stopIfOver();
    found.push(...(await listRunFacts(tx, orgId, runIds.slice(from, from + each), keys)));
  }
  let at = 0;
  const facts = runs.map(({ chain }) => chain.map(() => found[at++]!.keys));
  return { facts, versions: found.map(({ version }) => version) };
}

/** Reads page after page, and requests the next page while the caller takes one. */
async function* readPages(
  tx: Tx,
  orgId: string,
  plan: ReadPlan,
  { bytes, series }: ColumnsBounds,
): AsyncGenerator<{ page: ColumnsPage; pointsMax: number }, void, undefined> {
  const parts = partsOfPlan(plan, series);
  const read = (part: number, cursor: PageCursor) => {
    const reading = readColumnsPage(tx, orgId, plan, parts[part]!, cursor, bytes).then(({ page, next }) => {
      const following = next === undefined ? part + 1 : part;
      return { page, following, cursor: next ?? PAGE_BEGIN };
    });
    // A caller that stops reading does not wait for it; every other one gets its error.
    reading.catch(() => {});
    return reading;
  };
  let pending = parts.length === 0 ? undefined : read(0, PAGE_BEGIN);
  while (pending !== undefined) {
    const { page, following, cursor }: Awaited<ReturnType<typeof read>> = await pending;
    pending = following < parts.length ? read(following, cursor) : undefined;
    yield { page, pointsMax: page.bytes.length / 4 };
  }
}

/** Cuts the entries of a plan into parts of at most `max`, plus those of one more source. */
function partsOfPlan({ sources, entries }: ReadPlan, max: number): PlanPart[] {
  const parts: PlanPart[] = [];
  let from = 0;
  while (from < entries.length) {
    let to = from;
    while (to < entries.length && (to - from < max || entries[to]!.source === entries[to - 1]!.source)) to += 1;
    parts.push({
      sources: [entries[from]!.source, Math.min(sources.length, entries[to - 1]!.source + 1)],
      entries: [from, to],
    });
    from = to;
  }
  return parts;
}

function requireFew({ query, entries }: ReadPlan): void {
  if (!needsAllPoints(query)) return;
  const most = query.axis !== "step" && query.sharedGrid ? SHARED_AXIS_POINTS_MAX : WHOLE_POINTS_MAX;
  if (entries.reduce((sum, { facts }) => sum + facts.count, 0) > most) throw tooManyPoints(most);
}

function tooManyPoints(most: number) {
  return badRequest(
    `the series have more than ${most.toLocaleString("en-US")} points to read; ask for fewer runs or keys`,
    "run_ids",
  );
}
