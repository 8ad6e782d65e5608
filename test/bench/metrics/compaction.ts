import { setTimeout as pause } from "node:timers/promises";
import type { BenchStack } from "../frame/stack.ts";

const POLL_MS = 250;
const TIMEOUT_SECONDS = 600;
/** After this long without a landing segment, work that is due again and again has nothing left to do. */
const QUIET_SECONDS = 15;

const WAITING = `
  SELECT (SELECT count(*) FROM ingest.metric_segments)::integer AS segments,
         (SELECT count(*) FROM ingest.dirty_markers WHERE kind = 'metrics')::integer
           + (SELECT count(*) FROM ingest.compaction_work WHERE kind = 'metrics'
              AND (due_at <= now() + interval '3 seconds' OR claimed_until > now()))::integer AS work`;

/** Waits until all landing segments of metrics are compacted. @throws Error after ten minutes */
export async function untilCompacted({ owner }: BenchStack): Promise<void> {
  const started = performance.now();
  const elapsed = (): number => (performance.now() - started) / 1000;
  let emptySince: number | undefined;
  for (;;) {
    const { rows } = await owner.query<{ segments: number; work: number }>(WAITING);
    const { segments, work } = rows[0]!;
    emptySince = segments === 0 ? (emptySince ?? elapsed()) : undefined;
    if (emptySince !== undefined && (work === 0 || elapsed() - emptySince > QUIET_SECONDS)) return;
    if (elapsed() > TIMEOUT_SECONDS) throw new Error(`${segments} landing segments still wait for compaction`);
    await pause(POLL_MS);
  }
}

/** Keeps the compactor from taking work until the returned function is called; writers are not held up. */
export async function holdCompaction({ owner }: BenchStack): Promise<() => Promise<void>> {
  await owner.query("BEGIN");
  await owner.query("LOCK TABLE ingest.compaction_work IN ACCESS EXCLUSIVE MODE");
  return async () => void (await owner.query("COMMIT"));
}
