import type { Db } from "@tidemark/pg";
import { STRIPE_RULES, type Stripe, type StripeRules } from "../domain/metric-stripes.ts";
import { countWaitingMetricRows } from "../store/count-waiting-metric-rows.ts";
import { listWaitingMetricRows, type WaitingMetricRow } from "../store/list-waiting-metric-rows.ts";
import { arrangeMetrics, type Arranged } from "./arrange-metrics.ts";
import type { WorkItem } from "./compaction-work.sql.ts";
import type { MetricBlockStore } from "./metric-block-store.ts";
import { openMetricBlocks } from "./open-metric-blocks.ts";
import { readLandedMetrics } from "./read-landed-metrics.ts";
import { settleBlocks } from "./settle-metric-blocks.ts";
import { takeTurns } from "./take-turns.ts";
import { claimOf, QUIET_SECONDS, type CompactionKind, type VisitResult } from "./work-loop.ts";

/** What one step takes of what has landed, rows and bytes. */
const STEP_ROWS_MAX = 1024;
const STEP_BYTES_MAX = 2 * 1024 * 1024;
/** Stripes that one step looks at again. */
const STEP_STRIPES_MAX = 64;
/** Steps of one visit, so that one busy run does not keep the others waiting. */
const STEPS_MAX = 8;
/** So many rows or bytes are compacted however young they are. */
const ROWS_MIN = 64;
const BYTES_MIN = 256 * 1024;
/** A run without rows is looked at so much less often. */
const QUIET_PATIENCE = 4;

/** Metrics: landing rows of a run become blocks of its stripes. A row that is `patienceSeconds` old is compacted even if few wait with it. */
export function metricCompaction(
  db: Db,
  { patienceSeconds }: { readonly patienceSeconds: number },
  rules: StripeRules = STRIPE_RULES,
): CompactionKind {
  return {
    name: "metrics",
    countWaiting: () => countWaitingMetricRows(db),
    async visit(item, isStopping): Promise<VisitResult> {
      const run = { orgId: item.orgId, runId: item.runId };
      const store = openMetricBlocks(db, run, rules, claimOf(item));
      const turn = takeTurns();
      const done = { rows: 0, blocks: 0 };
      const later = (seconds: number, isQuiet = false): VisitResult => ({
        ...done,
        nextSeconds: Math.max(1, seconds),
        isQuiet,
      });
      let untidy: readonly Stripe[] = [];
      let isMore = true;
      // What a step has left to do is done before the visit ends, because the next one would not know of it.
      for (let step = 0; (step < STEPS_MAX || untidy.length > 0) && !isStopping(); step++) {
        let arranged: Arranged;
        if (untidy.length > 0) arranged = await tidy(store, rules, untidy, turn);
        else if (!isMore) return later(patienceSeconds);
        else {
          const rows = await listWaitingMetricRows(db, run, { rowsMax: STEP_ROWS_MAX, bytesMax: STEP_BYTES_MAX });
          if (rows.length === 0 && isEnding(item)) {
            const settled = await settleBlocks({ db, run, store, rules, turn, isStopping });
            if (settled === "lost") return later(patienceSeconds);
            if (isStopping()) break;
            done.blocks += settled.blocks;
          }
          if (rows.length === 0) return later(QUIET_PATIENCE * patienceSeconds, true);
          if (!isRipe(rows, patienceSeconds)) return later(patienceSeconds - rows[0]!.ageSeconds);
          const parts = await readLandedMetrics(db, run, rules, rows, turn);
          const segmentIds = rows.map(({ id }) => id);
          isMore = rows.length === STEP_ROWS_MAX || bytesOf(rows) >= STEP_BYTES_MAX;
          // Where more waits than a step can take, to keep up is worth more than the smallest blocks.
          const effort = isMore ? "fast" : "best";
          const arrangement = { segmentIds, parts, untidy, effort, isSettled: false } as const;
          arranged = await arrangeMetrics(store, rules, arrangement, turn);
          if (arranged !== "lost") done.rows += rows.length;
        }
        if (arranged === "lost") return later(patienceSeconds);
        done.blocks += arranged.blocks;
        untidy = arranged.untidy;
      }
      return isMore || isStopping() ? { ...done, nextSeconds: 0, isQuiet: false } : later(patienceSeconds);
    },
  };
}

async function tidy(
  store: MetricBlockStore,
  rules: StripeRules,
  stripes: readonly Stripe[],
  turn: () => Promise<void>,
): Promise<Arranged> {
  const untidy = stripes.slice(0, STEP_STRIPES_MAX);
  const arrangement = { segmentIds: [], parts: [], untidy, effort: "best", isSettled: false } as const;
  const arranged = await arrangeMetrics(store, rules, arrangement, turn);
  if (arranged === "lost") return arranged;
  return { ...arranged, untidy: [...stripes.slice(STEP_STRIPES_MAX), ...arranged.untidy] };
}

/** Whether the work ends with this visit, if nothing waits. */
function isEnding({ markedAt }: WorkItem): boolean {
  return Date.now() - Date.parse(markedAt) >= QUIET_SECONDS * 1000;
}

/** Rows that came in this order: enough to be worth it, or old enough. */
function isRipe(rows: readonly WaitingMetricRow[], patienceSeconds: number): boolean {
  if (rows.length === 0) return false;
  if (rows.length >= ROWS_MIN || rows[0]!.ageSeconds >= patienceSeconds) return true;
  return bytesOf(rows) >= BYTES_MIN;
}

function bytesOf(rows: readonly WaitingMetricRow[]): number {
  return rows.reduce((sum, { points }) => sum + points.length, 0);
}
