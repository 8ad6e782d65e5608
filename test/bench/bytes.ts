import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres } from "./fresh-postgres.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { bodiesNote } from "./metrics/metric-bodies.ts";
import { measureBytes, type BytesCase, type BytesRow } from "./metrics/measure-bytes.ts";
import { seriesValues, valueClasses } from "./metrics/metric-values.ts";
import { seriesRows, trackerRows } from "./metrics/row-designs.ts";
import { rowPerPoint } from "./metrics/row-per-point.ts";
import { keyNames } from "./metrics/write-load.ts";

// What a point takes on the disk once it is compacted: four classes of values, in batches and in single steps, beside rows.

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);
const runsOf = (runs: number): number => Math.max(1, Math.round(runs * options.scale));

const shapes = [
  { stepsPerRequest: 500, runs: runsOf(100) },
  { stepsPerRequest: 1, runs: runsOf(20) },
];
const cases: BytesCase[] = shapes.flatMap((shape) => valueClasses.map((kind) => ({ kind, ...shape })));

async function weighRows(databaseUrl: string): Promise<{ name: string; bytes: number }[]> {
  const runs = runsOf(20);
  const keys = keyNames(20);
  const series = keys.map((_key, seed) => seriesValues("noisy", 1000, seed + 1));
  const found = [];
  for (const design of [seriesRows, trackerRows]) {
    const store = await rowPerPoint(databaseUrl, design, new Float64Array());
    await store.fill!({ runs, keys, series });
    found.push({ name: design.name, bytes: (await store.bytes!()) / (runs * 20_000) });
    await store.close();
  }
  return found;
}

const line = ({ kind, stepsPerRequest, runs, points, each, wal, compactionSeconds }: BytesRow): string =>
  tableRow([
    kind,
    stepsPerRequest === 1 ? "single steps" : `batches of ${stepsPerRequest} steps`,
    shown(runs),
    shown(points),
    ...[each.blocks, each.landing, each.aggregates, each.idempotency, each.work].map((bytes) => shown(bytes, 3)),
    shown(each.total, 3),
    shown(wal, 1),
    shown(compactionSeconds, 1),
  ]);

await withFreshPostgres(async (postgres) => {
  say(bodiesNote);
  for (const mode of options.modes) {
    say(`\n${mode}: runs of 1 organization x 20 keys x 1,000 steps; bytes per point on the disk after compaction.\n`);
    say(
      tableHead([
        "values",
        "written in",
        "runs",
        "points",
        "blocks with their index",
        "emptied segment table",
        "keys and aggregates",
        "idempotency records",
        "compaction work",
        "all together",
        "log (WAL)",
        "compacted after s",
      ]),
    );
    const rows: BytesRow[] = [];
    for (const test of cases.filter(({ kind }) => kind.includes(options.only))) {
      const row = await measureBytes(postgres, mode, test);
      rows.push(row);
      say(line(row));
    }
    say(`\n${tableHead(["the noisy values with a row per point", "bytes per point with its index"])}`);
    const weighed = await weighRows(await postgres.database(`bytes_rows_${mode}`));
    for (const { name, bytes } of weighed) say(tableRow([name, shown(bytes, 1)]));
    if (options.json) process.stdout.write(`${JSON.stringify({ mode, rows, weighed }, null, 2)}\n`);
  }
});
