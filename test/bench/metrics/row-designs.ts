import { createHash } from "node:crypto";
import type pg from "pg";
import { binaryArray, textArray } from "./binary-arrays.ts";
import { copyBuffer, copyIn } from "./copy-rows.ts";
import { pointTimeUs } from "./point-times.ts";

/** Points of one run, step after step and within a step key after key: row `p * keys + k`. Their times are those of their steps (`point-times.ts`). */
export type RowWrite = {
  /** A number that no other run has. */
  readonly run: number;
  readonly keys: readonly string[];
  readonly points: number;
  readonly firstStep: number;
  readonly valueOf: (row: number) => number;
};

/** A table with a row per point, and how points get into it. */
export type RowDesign = {
  readonly name: string;
  readonly table: string;
  readonly columns: string;
  /** One statement, and so one transaction. */
  readonly put: (client: pg.Client, write: RowWrite) => Promise<void>;
  /** The first points ($2) of the first key of a run by step. */
  readonly read: string;
  readonly readFrom: (run: number, key: string) => readonly unknown[];
};

const column = (count: number, of: (row: number) => number): Float64Array => {
  const values = new Float64Array(count);
  for (let row = 0; row < count; row += 1) values[row] = of(row);
  return values;
};

const SERIES_PER_RUN = 1024;

const series = {
  columns: "series integer, step bigint, at timestamptz, value double precision, PRIMARY KEY (series, step)",
  readFrom: (run: number) => [run * SERIES_PER_RUN],
};
const numberOf = ({ run, keys, firstStep }: RowWrite) => ({
  series: (row: number): number => run * SERIES_PER_RUN + (row % keys.length),
  step: (row: number): number => firstStep + Math.floor(row / keys.length),
  timeUs: (row: number): number => pointTimeUs(firstStep + Math.floor(row / keys.length)),
});
const readSeries = (table: string): string =>
  `SELECT step, value FROM ${table} WHERE series = $1 ORDER BY step LIMIT $2`;

/** The leanest: a number for run and key, which somebody has looked up. */
export const seriesRows: RowDesign = {
  ...series,
  name: "row per point (series, step), unnest",
  table: "public.series_rows",
  read: readSeries("public.series_rows"),
  async put(client, write) {
    const count = write.points * write.keys.length;
    const of = numberOf(write);
    const values = [
      binaryArray("int4", column(count, of.series)),
      binaryArray("int8", column(count, of.step)),
      binaryArray("timestamptz", column(count, of.timeUs)),
      binaryArray("float8", column(count, write.valueOf)),
    ];
    const text = `INSERT INTO public.series_rows (series, step, at, value)
      SELECT * FROM unnest($1::int4[], $2::int8[], $3::timestamptz[], $4::float8[])`;
    await client.query({ name: "insert-series-rows", text, values });
  },
};

/** The same by COPY in binary form, one for each write, handed over whole. */
export const copiedRows: RowDesign = {
  ...series,
  name: "row per point (series, step), COPY binary",
  table: "public.copied_rows",
  read: readSeries("public.copied_rows"),
  async put(client, write) {
    const count = write.points * write.keys.length;
    const of = numberOf(write);
    const buffer = copyBuffer(count);
    for (let row = 0; row < count; row += 1) {
      buffer.add(of.series(row), of.step(row), of.timeUs(row), write.valueOf(row));
    }
    const statement = "COPY public.copied_rows (series, step, at, value) FROM STDIN (FORMAT binary)";
    await copyIn(client, statement, buffer.finish());
  },
};

const runText = (run: number): string => createHash("md5").update(String(run)).digest("hex");

/** What trackers keep, MLflow among them: run, key, step, time and value, and these as the key. */
export const trackerRows: RowDesign = {
  name: "row per point (run, key, step, time), unnest",
  table: "public.tracker_rows",
  columns: `run uuid, key text, step bigint, at timestamptz, value double precision, PRIMARY KEY (run, key, step, at)`,
  read: "SELECT step, value, at FROM public.tracker_rows WHERE run = $1 AND key = $3 ORDER BY step LIMIT $2",
  readFrom: (run, key) => [runText(run), key],
  async put(client, write) {
    const { run, keys, points } = write;
    const count = points * keys.length;
    const of = numberOf(write);
    const values = [
      runText(run),
      textArray(keys, count),
      binaryArray("int8", column(count, of.step)),
      binaryArray("timestamptz", column(count, of.timeUs)),
      binaryArray("float8", column(count, write.valueOf)),
    ];
    const text = `INSERT INTO public.tracker_rows (run, key, step, at, value)
      SELECT $1::uuid, p.* FROM unnest($2::text[], $3::int8[], $4::timestamptz[], $5::float8[]) AS p (key, step, at, value)`;
    await client.query({ name: "insert-tracker-rows", text, values });
  },
};
