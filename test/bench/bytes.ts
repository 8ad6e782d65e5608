import type { Bench } from "./frame/bench.ts";
import { shown } from "./frame/report.ts";
import type { BenchStack } from "./frame/stack.ts";
import { untilCompacted } from "./metrics/compaction.ts";
import { fillRuns, keyNames } from "./metrics/load-shots.ts";
import { openRowPerPoint } from "./metrics/row-per-point.ts";
import { seriesValues, valueClasses } from "./metrics/values.ts";

const RUNS = 100;
/** With fewer the pages that a table has anyway would show. */
const RUNS_MIN = 50;
const KEYS = 20;
const STEPS = 1000;
/** Bytes of a point in blocks with their index. Client times take some, which shows most where values take next to nothing. */
const bounds = {
  noisy: { wanted: 9, limit: 9 },
  float32: { wanted: 5, limit: 5 },
  integer: { wanted: 2, limit: 2 },
  constant: { wanted: 0.2, limit: 0.4 },
};

/** Bytes of tables with their indexes and TOAST. */
type Sizes = { readonly blocks: number; readonly all: number };

const SIZES = `
  SELECT sum(bytes) FILTER (WHERE name LIKE 'metric_blocks%') AS blocks, sum(bytes) AS "all"
  FROM (SELECT c.relname AS name, pg_total_relation_size(c.oid)::float8 AS bytes
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = 'ingest') sizes`;

async function readSizes({ owner }: BenchStack): Promise<Sizes> {
  await owner.query("VACUUM");
  await owner.query("CHECKPOINT");
  return (await owner.query<Sizes>(SIZES)).rows[0]!;
}

/** The disk space of a compacted point, for four classes of values. */
export const bytes: Bench = {
  about: "bytes of a point on the disk (row 5)",
  async run({ open, scaled, wants, report, postgres }) {
    const bench = await open();
    const rows = await openRowPerPoint(await postgres.database("rows"), { points: 1, keys: 1, connections: 1 });
    const leanest = await rows.leanestBytes();
    await rows.close();
    const runs = scaled(RUNS, RUNS_MIN);
    for (const kind of valueClasses.filter(wants)) {
      const before = await readSizes(bench);
      await fillRuns(bench, await bench.newRuns(runs), {
        keys: keyNames(KEYS),
        seriesOf: (run) => Array.from({ length: KEYS }, (_, key) => seriesValues(kind, STEPS, 1 + run * KEYS + key)),
      });
      await untilCompacted(bench);
      const after = await readSizes(bench);
      const each = (which: keyof Sizes): number => (after[which] - before[which]) / (runs * KEYS * STEPS);
      report.say(
        `${kind}: ${shown(each("blocks"), 2)} bytes a point in blocks, ${shown(each("all"), 2)} in all tables`,
      );
      report.target({ row: 5, what: `bytes of a point, ${kind}`, value: each("blocks"), ...bounds[kind] });
      if (kind !== "noisy") continue;
      const what = "bytes of the leanest row per point, times those of a point";
      report.target({ row: 5, what, value: leanest / each("all"), more: true, wanted: 8, limit: 8 });
    }
  },
};
