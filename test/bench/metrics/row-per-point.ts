import pg from "pg";
import { runClosedLoop } from "../closed-loop.ts";
import type { MetricStore } from "./metric-store.ts";
import type { RowDesign } from "./row-designs.ts";
import { keyNames, writeAt } from "./write-load.ts";

// The usual design, straight from the driver: no HTTP, no checks, no aggregates.

const FILL_ROWS = 10_000;

async function connect(url: string, count: number): Promise<pg.Client[]> {
  const clients = Array.from({ length: count }, () => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  return clients;
}

/** A row per point, one statement and transaction per write, as many connections as writes at a time. */
export async function rowPerPoint(databaseUrl: string, design: RowDesign, tape: Float64Array): Promise<MetricStore> {
  const { name, table, columns, put } = design;
  const reader = (await connect(databaseUrl, 1))[0]!;
  await reader.query(`CREATE TABLE ${table} (${columns})`);
  let runsTaken = 0;
  return {
    name,
    servers: [],
    clients: [],
    takes: () => true,
    prepare(load) {
      const firstRun = runsTaken;
      runsTaken += load.runs;
      const keys = keyNames(load.keys);
      return Promise.resolve(async (timing) => {
        const all = await connect(databaseUrl, load.concurrency);
        const idle = [...all];
        const once = async (index: number): Promise<void> => {
          const client = idle.pop()!;
          const { run, firstStep, tapeFrom } = writeAt(load, index);
          const valueOf = (row: number): number => tape[tapeFrom + row]!;
          try {
            await put(client, { run: firstRun + run, keys, points: load.points, firstStep, valueOf });
          } finally {
            idle.push(client);
          }
        };
        try {
          return await runClosedLoop({ concurrency: load.concurrency, ...timing, once });
        } finally {
          await Promise.all(all.map((client) => client.end()));
        }
      });
    },
    settle: () => Promise.resolve(),
    async fill({ runs, keys, series }) {
      const length = series[0]?.length ?? 0;
      const names: string[] = [];
      const step = Math.max(1, Math.floor(FILL_ROWS / keys.length));
      for (let made = 0; made < runs; made += 1) {
        const run = runsTaken;
        runsTaken += 1;
        names.push(String(run));
        for (let firstStep = 0; firstStep < length; firstStep += step) {
          const points = Math.min(step, length - firstStep);
          const valueOf = (row: number): number =>
            series[row % keys.length]![firstStep + Math.floor(row / keys.length)]!;
          await put(reader, { run, keys, points, firstStep, valueOf });
        }
      }
      await reader.query(`VACUUM ANALYZE ${table}`);
      return names;
    },
    read({ run, key, points, limit }, timing) {
      const [first, ...rest] = design.readFrom(Number(run), key);
      const query = { name: "read-rows", text: design.read, values: [first, limit, ...rest] };
      const once = async (): Promise<void> => {
        const { rows } = await reader.query(query);
        if (rows.length !== Math.min(points, limit)) throw new Error(`${rows.length} of ${points} points`);
      };
      return runClosedLoop({ concurrency: 1, ...timing, once });
    },
    async bytes() {
      await reader.query(`VACUUM ${table}`);
      await reader.query("CHECKPOINT");
      const size = `SELECT pg_total_relation_size('${table}')::float8 AS bytes`;
      return Number((await reader.query<{ bytes: number }>(size)).rows[0]?.bytes);
    },
    close: () => reader.end(),
  };
}
