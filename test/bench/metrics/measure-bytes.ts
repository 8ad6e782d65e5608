import type { Mode } from "../../stack/stack.ts";
import { openBenchStack } from "../bench-stack.ts";
import type { BenchPostgres } from "../fresh-postgres.ts";
import { untilCompacted } from "./compaction-state.ts";
import { fillRuns } from "./fill-runs.ts";
import { seriesValues, type ValueClass } from "./metric-values.ts";
import { metricTableBytes, type TableBytes } from "./table-bytes.ts";
import { keyNames } from "./write-load.ts";

/** Runs of 20 keys x 1,000 steps, written in requests of `stepsPerRequest` steps. */
export type BytesCase = { readonly kind: ValueClass; readonly runs: number; readonly stepsPerRequest: number };

/** What they take once compacted, in bytes per point and by table; what the empty tables take is left out. */
export type BytesRow = BytesCase & {
  readonly points: number;
  readonly each: TableBytes;
  /** Bytes of the database's log per point, from the first write to the end of the compaction. */
  readonly wal: number;
  /** From the last write to the end of the compaction. */
  readonly compactionSeconds: number;
};

const KEYS = 20;
const STEPS = 1000;

const LOG_POSITION = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS position";

/** Fills a new installation with one case, waits for the compaction, and weighs it. */
export async function measureBytes(postgres: BenchPostgres, mode: Mode, test: BytesCase): Promise<BytesRow> {
  const bench = await openBenchStack(postgres, mode, `bytes_${mode}_${test.kind}_${test.stepsPerRequest}`);
  const position = async (): Promise<number> =>
    Number((await bench.owner.query<{ position: number }>(LOG_POSITION)).rows[0]?.position);
  try {
    const empty = await metricTableBytes(bench.owner);
    const before = await position();
    await fillRuns(bench, await bench.newRuns(test.runs), {
      keys: keyNames(KEYS),
      // Every run has other values.
      seriesOf: (run) => Array.from({ length: KEYS }, (_, key) => seriesValues(test.kind, STEPS, 1 + run * KEYS + key)),
      stepsPerRequest: test.stepsPerRequest,
    });
    const compactionSeconds = await untilCompacted(bench);
    const points = test.runs * KEYS * STEPS;
    const wal = ((await position()) - before) / points;
    const full = await metricTableBytes(bench.owner);
    const names = Object.keys(full) as (keyof TableBytes)[];
    const each = Object.fromEntries(names.map((name) => [name, (full[name] - empty[name]) / points]));
    return { ...test, points, wal, compactionSeconds, each: each as TableBytes };
  } finally {
    await bench.stop();
  }
}
