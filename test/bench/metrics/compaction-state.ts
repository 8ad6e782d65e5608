import { setTimeout as pause } from "node:timers/promises";
import type { BenchStack } from "../bench-stack.ts";

/** What the product reports about its compaction of metrics. */
export type Backlog = {
  /** For how long the longest waiting work has been due. */
  readonly lagSeconds: number;
  readonly rowsWaiting: number;
};

const POLL_MS = 250;

/** Value of a gauge with these labels in Prometheus text; undefined when it is not there. */
export function gaugeIn(text: string, name: string, label: string): number | undefined {
  for (const line of text.split("\n")) {
    if (line.startsWith(`${name}{`) && line.includes(label)) return Number(line.slice(line.lastIndexOf(" ") + 1));
  }
  return undefined;
}

/** Reads the gauges of the ingest process, which it renews every few seconds; undefined before the first time. */
export async function readBacklog({ stack }: BenchStack): Promise<Backlog | undefined> {
  const text = await stack.metricsText("ingest");
  const lagSeconds = gaugeIn(text, "tidemark_compaction_lag_seconds", 'kind="metrics"');
  const rowsWaiting = gaugeIn(text, "tidemark_compaction_rows_waiting", 'kind="metrics"');
  return lagSeconds === undefined || rowsWaiting === undefined ? undefined : { lagSeconds, rowsWaiting };
}

const WAITING = `
  SELECT (SELECT count(*) FROM ingest.metric_segments)::float8 AS rows,
         (SELECT coalesce(extract(epoch FROM clock_timestamp()) - min(received_us) / 1e6, 0)
          FROM ingest.metric_segments)::float8 AS "oldestSeconds",
         (SELECT count(*) FROM ingest.dirty_markers WHERE kind = 'metrics')
           + (SELECT count(*) FROM ingest.compaction_work WHERE kind = 'metrics'
              AND (due_at <= now() + interval '3 seconds' OR claimed_until > now())) AS work`;

/** What waits for compaction, as the tables have it. */
export type Waiting = {
  /** Landing segments. */
  readonly rows: number;
  /** Age of the oldest of them in seconds; 0 when there is none. */
  readonly oldestSeconds: number;
  /** Runs whose compaction is due or running. */
  readonly work: number;
};

/** Reads it from the tables. */
export async function waitingInDatabase({ owner }: BenchStack): Promise<Waiting> {
  const { rows } = await owner.query<{ rows: number; oldestSeconds: number; work: string }>(WAITING);
  const row = rows[0]!;
  return { rows: row.rows, oldestSeconds: row.oldestSeconds, work: Number(row.work) };
}

/** After this long without a landing segment, work that is due again and again has nothing left to do. */
const QUIET_SECONDS = 15;

/** Waits until all landing segments of metrics are compacted. Returns the seconds that it took. @throws Error after `timeoutSeconds`. */
export async function untilCompacted(bench: BenchStack, timeoutSeconds = 600): Promise<number> {
  const started = performance.now();
  const elapsed = (): number => (performance.now() - started) / 1000;
  let emptySince: number | undefined;
  for (;;) {
    const { rows, work } = await waitingInDatabase(bench);
    emptySince = rows === 0 ? (emptySince ?? elapsed()) : undefined;
    if (rows === 0 && work === 0) return elapsed();
    if (emptySince !== undefined && elapsed() - emptySince > QUIET_SECONDS) return emptySince;
    if (elapsed() > timeoutSeconds) {
      throw new Error(`after ${timeoutSeconds} s ${rows} landing segments still wait for compaction`);
    }
    await pause(POLL_MS);
  }
}

/** Keeps the compactor from taking work until the returned function is called; writers are not held up. */
export async function holdCompaction({ owner }: BenchStack): Promise<() => Promise<void>> {
  await owner.query("BEGIN");
  await owner.query("LOCK TABLE ingest.compaction_work IN ACCESS EXCLUSIVE MODE");
  return async () => void (await owner.query("COMMIT"));
}
