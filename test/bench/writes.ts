import type { Bench, BenchContext } from "./frame/bench.ts";
import { cpuBetween, type BenchStack } from "./frame/stack.ts";
import { measure, measureShots, type Measured } from "./frame/measure.ts";
import { medianOf } from "./frame/percentiles.ts";
import { holdCompaction, untilCompacted } from "./metrics/compaction.ts";
import { loadShots, type WriteLoad } from "./metrics/load-shots.ts";
import { openRowPerPoint } from "./metrics/row-per-point.ts";

const RUNS = 32;
const CONNECTIONS = 8;
const SINGLE: WriteLoad = { points: 1, keys: 6 };
const batch = (keys: number): WriteLoad => ({ points: 500, keys });
/** Keys of the batches that are compared with rows. */
const ROW_KEYS = 20;
/** Targets for single steps by number of connections. */
const wantedSteps = [
  { concurrency: 8, rate: 2500, p95: 8 },
  { concurrency: 32, rate: 4000, p95: 15 },
];

const nameOf = ({ points, keys }: WriteLoad): string =>
  points === 1 ? `single step of ${keys} keys` : `batch of ${points} points x ${keys} keys`;

const cpuOf = ({ cpu }: Measured): number => cpu.server + cpu.database;

/** Writes to 32 new runs, and waits until all of it is compacted. `cpuSeconds` are those of everything, for each request. */
async function write(bench: BenchStack, load: WriteLoad, concurrency: number, seconds: number) {
  const shots = loadShots(load, await bench.newRuns(RUNS));
  const before = await bench.readCpu();
  const enough = load.points === 1 ? 1000 : 100;
  const measured = await measureShots(bench, { concurrency, seconds, warmUpMin: enough, samplesMin: enough }, shots);
  await untilCompacted(bench);
  const { server, database, client } = cpuBetween(before, await bench.readCpu(), 1 / measured.sent);
  return { measured, cpuSeconds: server + database + client };
}

/** Returns what was measured with the most connections, where what the processes do in the background shows least. */
async function measureSteps({ mode, seconds, report }: BenchContext, bench: BenchStack): Promise<Measured> {
  const found: Measured[] = [];
  for (const { concurrency, rate, p95 } of wantedSteps) {
    const { measured } = await write(bench, SINGLE, concurrency, seconds);
    found.push(measured);
    report.load(nameOf(SINGLE), measured);
    const what = `single steps, ${concurrency} connections`;
    // A process for each module may be slower by a third.
    const wanted = mode === "split" ? (rate * 2) / 3 : rate;
    report.target({ row: 1, what: `${what}, requests/s`, value: measured.rate, more: true, wanted });
    report.target({ row: 1, what: `${what}, p95 ms`, value: measured.p95, wanted: p95 });
  }
  return found.at(-1)!;
}

/** Returns what was measured of the batches that are compared with rows. */
async function measureBatches({ seconds, report }: BenchContext, bench: BenchStack): Promise<Measured> {
  let compared: Measured | undefined;
  for (const keys of [2, 20, 100]) {
    const load = batch(keys);
    const scalars = load.points * keys;
    const { measured, cpuSeconds } = await write(bench, load, CONNECTIONS, seconds);
    if (keys === ROW_KEYS) compared = measured;
    report.load(nameOf(load), measured);
    const what = `batches of ${keys} keys`;
    const rate = measured.rate * scalars;
    report.target({ row: 2, what: `${what}, scalars/s`, value: rate, more: true, wanted: 600_000 });
    report.target({ row: 2, what: `${what}, p95 ms`, value: measured.p95, wanted: 50 });
    const perMillion = (cpuSeconds * 1e6) / scalars;
    report.target({ row: 2, what: `${what}, CPU s a million, all processes`, value: perMillion, wanted: 3 });
  }
  return compared!;
}

/** Measures the same loads as rows of a plain table, on the same PostgreSQL. */
async function measureRows({ seconds, report, postgres }: BenchContext, bench: BenchStack, load: WriteLoad) {
  const database = await postgres.database(`rows_${load.keys}`);
  const rows = await openRowPerPoint(database, { ...load, connections: CONNECTIONS });
  const append = (index: number): Promise<void> => rows.append(index % RUNS, Math.floor(index / RUNS));
  const measured = await measure(bench, { concurrency: CONNECTIONS, seconds }, append);
  report.load(`the same, a row per point without a server: ${nameOf(load)}`, measured);
  await rows.close();
  return measured;
}

/** Returns how many times the CPU of batches without client times those with them take: the median of pairs, without compaction. */
async function timesCost({ seconds, rounds }: BenchContext, bench: BenchStack): Promise<number> {
  const ratios: number[] = [];
  const release = await holdCompaction(bench);
  for (let pair = 0; pair < rounds; pair += 1) {
    const cpu = new Map<boolean, number>();
    for (const timed of pair % 2 === 0 ? [true, false] : [false, true]) {
      const shots = loadShots({ ...batch(2), timed }, await bench.newRuns(RUNS));
      cpu.set(timed, cpuOf(await measureShots(bench, { concurrency: CONNECTIONS, seconds }, shots)));
    }
    ratios.push(cpu.get(true)! / cpu.get(false)!);
  }
  await release();
  return medianOf(ratios);
}

/** Single steps and batches of metrics, and the same as a row per point on the same PostgreSQL. */
export const writes: Bench = {
  about: "single steps and batches of metrics (rows 1 and 2)",
  async run(context) {
    const bench = await context.open();
    const { report, wants } = context;
    if (wants("single")) {
      const steps = cpuOf(await measureSteps(context, bench));
      const rows = cpuOf(await measureRows(context, bench, SINGLE));
      const what = "CPU of a single step over HTTP, times that of rows without a server";
      report.target({ row: 1, what, value: steps / rows, wanted: 4, limit: 10 });
    }
    if (wants("batch")) {
      const batches = cpuOf(await measureBatches(context, bench));
      const rows = cpuOf(await measureRows(context, bench, batch(ROW_KEYS)));
      const what = `CPU of rows without a server, times that of batches of ${ROW_KEYS} keys over HTTP`;
      report.target({ row: 2, what, value: rows / batches, more: true, wanted: 3, limit: 2 });
    }
    if (wants("client times")) {
      const what = "CPU of batches with client times, times that without";
      report.target({ row: 2, what, value: await timesCost(context, bench), wanted: 1.2, limit: 1.4 });
    }
  },
};
