import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { seriesBody } from "./metrics/metric-bodies.ts";

/** What this machine can do at the most, measured before anything else, so that results can be read as shares of it. */
export type Ceilings = {
  /** fdatasync of 8 KiB, per second. */
  fsyncPerSecond: number;
  /** Durable one-row transactions per second, by number of connections. */
  commitsPerSecond: Record<number, number>;
  /** Scalars per second of JSON.parse on a batch body of 500 points with 2 keys and a client time, one core. */
  parsedScalarsPerSecond: number;
};

const SECONDS = 2;

async function fsyncRate(directory: string): Promise<number> {
  const path = join(directory, "fsync-probe");
  const file = await open(path, "w");
  const block = Buffer.alloc(8192, 1);
  let writes = 0;
  const started = performance.now();
  try {
    while (performance.now() - started < SECONDS * 1000) {
      await file.write(block, 0, block.length, (writes % 128) * block.length);
      await file.datasync();
      writes += 1;
    }
  } finally {
    await file.close();
    await rm(path);
  }
  return writes / ((performance.now() - started) / 1000);
}

async function commitRate(url: string, connections: number): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  await pool.query("CREATE TABLE IF NOT EXISTS public.commit_probe (id bigserial PRIMARY KEY, payload bytea)");
  const payload = Buffer.alloc(200, 7);
  let commits = 0;
  const started = performance.now();
  const worker = async (): Promise<void> => {
    while (performance.now() - started < SECONDS * 1000) {
      await pool.query({
        name: "probe",
        text: "INSERT INTO public.commit_probe (payload) VALUES ($1)",
        values: [payload],
      });
      commits += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const rate = commits / ((performance.now() - started) / 1000);
  await pool.query("DROP TABLE public.commit_probe");
  await pool.end();
  return rate;
}

function parseRate(): number {
  const series = [(step: number) => step / 501, (step: number) => 1 / (step + 1)];
  const columns = series.map((valueOf) => Float64Array.from({ length: 500 }, (_, step) => valueOf(step)));
  const body = seriesBody(["accuracy", "loss"], columns, 0, 500);
  let parsed = 0;
  const started = performance.now();
  while (performance.now() - started < SECONDS * 500) {
    JSON.parse(body);
    parsed += 1000;
  }
  return parsed / ((performance.now() - started) / 1000);
}

/** Measures the machine; takes about ten seconds. */
export async function measureCeilings(databaseUrl: string, directory: string): Promise<Ceilings> {
  const commitsPerSecond: Record<number, number> = {};
  for (const connections of [1, 8, 32]) {
    commitsPerSecond[connections] = await commitRate(databaseUrl, connections);
  }
  return { fsyncPerSecond: await fsyncRate(directory), commitsPerSecond, parsedScalarsPerSecond: parseRate() };
}
