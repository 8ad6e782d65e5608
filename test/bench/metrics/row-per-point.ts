import pg from "pg";
import { keyNames } from "./load-shots.ts";

/** The cost of a row per point on the same PostgreSQL, without a server in front of it. */
export type RowPerPoint = {
  /** Stores a batch of points of a run, a row for each value with run, key, step and time. The database makes up the values, so no client is in it. */
  readonly append: (run: number, turn: number) => Promise<void>;
  /** Returns the bytes of a point in the leanest row, (series, step, time, value), with its index. */
  readonly leanestBytes: () => Promise<number>;
  readonly close: () => Promise<void>;
};

const LEAN_ROWS = 200_000;
const TABLES = `
  CREATE TABLE points (run integer, key text, step bigint, at timestamptz, value double precision, PRIMARY KEY (run, key, step));
  CREATE TABLE lean (series integer, step bigint, at timestamptz, value double precision, PRIMARY KEY (series, step))`;
const APPEND = `
  INSERT INTO points SELECT $1::integer, k, $2::bigint + s, now(), random()
  FROM generate_series(0, $3::integer - 1) s, unnest($4::text[]) k`;
const FILL = `INSERT INTO lean SELECT n / 1000, n % 1000, now(), random() FROM generate_series(0, ${LEAN_ROWS - 1}) n`;

/** Opens it in an empty database. */
export async function openRowPerPoint(
  databaseUrl: string,
  { points, keys, connections }: { readonly points: number; readonly keys: number; readonly connections: number },
): Promise<RowPerPoint> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: connections });
  await pool.query(TABLES);
  const names = keyNames(keys);
  return {
    async append(run, turn) {
      await pool.query({ name: "append", text: APPEND, values: [run, turn * points, points, names] });
    },
    async leanestBytes() {
      await pool.query(FILL);
      await pool.query("VACUUM lean");
      const { rows } = await pool.query<{ bytes: number }>("SELECT pg_total_relation_size('lean')::float8 AS bytes");
      return rows[0]!.bytes / LEAN_ROWS;
    },
    close: () => pool.end(),
  };
}
