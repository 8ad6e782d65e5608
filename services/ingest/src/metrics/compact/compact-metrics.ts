import type { Db } from "@tidemark/pg";
import type { WorkItem } from "../../compaction/compaction-work.sql.ts";
import {
  takeTurns,
  QUIET_SECONDS,
  claimOf,
  type CompactionKind,
  type VisitResult,
} from "../../compaction/work-loop.ts";
import { arrangeMetrics, type Arranged } from "./arrange-metrics.ts";
import { KEY_RANGE_RULES, sealedPoints, type KeyRange, type KeyRangeRules } from "./key-ranges.rules.ts";
import { openMetricBlocks, type MetricBlockStore, readSegments } from "./metric-block-store.ts";
import {
  countMetricSegments,
  listCrowdedKeyRanges,
  listMetricSegments,
  type RunOfOrg,
  type MetricSegment,
} from "./metric-blocks.sql.ts";

/** The most landing segments that one step takes, and the most bytes of them. */
const STEP_ROWS_MAX = 1024;
const STEP_BYTES_MAX = 2 * 1024 * 1024;
/** Key ranges that one step looks at again. */
const STEP_KEY_RANGES_MAX = 64;
/** Steps of one visit, so that one busy run does not keep the others waiting. */
const STEPS_MAX = 8;
/** This many landing segments or bytes are compacted regardless of their age. */
const ROWS_MIN = 64;
const BYTES_MIN = 256 * 1024;
/** How many times less often a run without landing segments is visited. */
const QUIET_PATIENCE = 4;

/**
 * Compacts metrics: landing segments of a run become blocks of its key ranges. A segment that is `patienceSeconds` old is compacted even if few
 * wait with it.
 */
export function metricCompaction(
  db: Db,
  { patienceSeconds }: { readonly patienceSeconds: number },
  rules: KeyRangeRules = KEY_RANGE_RULES,
): CompactionKind {
  return {
    name: "metrics",
    countWaiting: () => countMetricSegments(db),
    async visit(item, isStopping): Promise<VisitResult> {
      const run = { orgId: item.orgId, runId: item.runId };
      const store = openMetricBlocks(db, run, rules, claimOf(item));
      const giveTurn = takeTurns();
      const done = { rows: 0, blocks: 0 };
      const later = (seconds: number, isQuiet = false): VisitResult => ({
        ...done,
        nextSeconds: Math.max(1, seconds),
        isQuiet,
      });
      let untidy: readonly KeyRange[] = [];
      let isMore = true;
      // Work that a step leaves is done before the visit ends: the next visit would not know of it.
      for (let step = 0; (step < STEPS_MAX || untidy.length > 0) && !isStopping(); step++) {
        let arranged: Arranged;
        if (untidy.length > 0) arranged = await tidy(store, rules, untidy, giveTurn);
        else if (!isMore) return later(patienceSeconds);
        else {
          const segments = await listMetricSegments(db, run, { rowsMax: STEP_ROWS_MAX, bytesMax: STEP_BYTES_MAX });
          if (segments.length === 0 && isEnding(item)) {
            const completed = await completeBlocks({ db, run, store, rules, giveTurn, isStopping });
            if (completed === "lost") return later(patienceSeconds);
            if (isStopping()) break;
            done.blocks += completed.blocks;
          }
          if (segments.length === 0) return later(QUIET_PATIENCE * patienceSeconds, true);
          if (!isRipe(segments, patienceSeconds)) return later(patienceSeconds - segments[0]!.ageSeconds);
          const parts = await readSegments(rules, segments, giveTurn);
          const segmentIds = segments.map(({ id }) => id);
          isMore = segments.length === STEP_ROWS_MAX || bytesOf(segments) >= STEP_BYTES_MAX;
          // When more segments wait than a step takes, keeping up matters more than the smallest blocks.
          const effort = isMore ? "fast" : "best";
          const arrangement = { segmentIds, parts, untidy, effort, isComplete: false } as const;
          arranged = await arrangeMetrics(store, rules, arrangement, giveTurn);
          if (arranged !== "lost") done.rows += segments.length;
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
  rules: KeyRangeRules,
  keyRanges: readonly KeyRange[],
  giveTurn: () => Promise<void>,
): Promise<Arranged> {
  const untidy = keyRanges.slice(0, STEP_KEY_RANGES_MAX);
  const arrangement = { segmentIds: [], parts: [], untidy, effort: "best", isComplete: false } as const;
  const arranged = await arrangeMetrics(store, rules, arrangement, giveTurn);
  if (arranged === "lost") return arranged;
  return { ...arranged, untidy: [...keyRanges.slice(STEP_KEY_RANGES_MAX), ...arranged.untidy] };
}

/** Returns whether the work ends with this visit if nothing waits. */
function isEnding({ markedAt }: WorkItem): boolean {
  return Date.now() - Date.parse(markedAt) >= QUIET_SECONDS * 1000;
}

/** Returns whether segments, which arrived in this order, are numerous enough to be worth compacting, or old enough. */
function isRipe(segments: readonly MetricSegment[], patienceSeconds: number): boolean {
  if (segments.length === 0) return false;
  if (segments.length >= ROWS_MIN || segments[0]!.ageSeconds >= patienceSeconds) return true;
  return bytesOf(segments) >= BYTES_MIN;
}

function bytesOf(segments: readonly MetricSegment[]): number {
  return segments.reduce((sum, { points }) => sum + points.length, 0);
}

/**
 * Joins the small blocks that remain of a run that is probably complete; more points may still arrive. Ends after the current step when
 * `isStopping`. Returns `lost` when another process now has the work.
 */
async function completeBlocks(work: {
  readonly db: Db;
  readonly run: RunOfOrg;
  readonly store: MetricBlockStore;
  readonly rules: KeyRangeRules;
  readonly giveTurn: () => Promise<void>;
  readonly isStopping: () => boolean;
}): Promise<{ readonly blocks: number } | "lost"> {
  const { db, run, store, rules, giveTurn, isStopping } = work;
  let blocks = 0;
  let after: KeyRange | undefined;
  let untidy: readonly KeyRange[] = [];
  while (!isStopping()) {
    if (untidy.length === 0) {
      const bounds = { sealedPoints: sealedPoints(rules), keyRangesMax: STEP_KEY_RANGES_MAX };
      untidy = await listCrowdedKeyRanges(db, run, after, bounds);
      if (untidy.length === 0) break;
      after = untidy.at(-1);
    }
    const arrangement = { segmentIds: [], parts: [], untidy, effort: "best", isComplete: true } as const;
    const arranged = await arrangeMetrics(store, rules, arrangement, giveTurn);
    if (arranged === "lost") return arranged;
    blocks += arranged.blocks;
    untidy = arranged.untidy;
  }
  return { blocks };
}
