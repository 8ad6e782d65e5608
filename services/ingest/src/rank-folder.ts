import type { Db } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { LRUCache } from "lru-cache";
import { foldRankRows, type FoldBounds, type RankSetRef } from "./store/fold-rank-rows.ts";

/**
 * Folds rows of rank metrics that have come to rest into blocks, which are quicker to read and half as large. Everything that it does may as well
 * not happen: a row that nobody folds is read as it is. So it only remembers what its own process wrote.
 */
export type RankFolder = {
  /** A row of the set was written. */
  note(set: RankSetRef): void;
  /** Folds now what is due; returns how many rows became part of a block. */
  round(): Promise<number>;
  /** Ends it after the block in hand. */
  stop(): Promise<void>;
};

/** What a folder needs. */
export type RankFolderOptions = {
  /** As the service's role. */
  readonly db: Db;
  readonly log: Pick<Log, "warn">;
  /** Milliseconds between two rounds. */
  readonly periodMs?: number;
  readonly bounds?: FoldBounds;
};

/** Ranks are seldom further apart than this, so that blocks seldom overlap. */
const BOUNDS: FoldBounds = { restSeconds: 10, entriesMin: 1024, entriesMax: 4096, overlapsMax: 4 };
const PERIOD_MS = 5_000;
/** Sets that are remembered; each takes some 200 bytes. */
const SETS_MAX = 20_000;
/** A set of which so many rounds found nothing to fold is forgotten until it is written again. */
const IDLE_ROUNDS_MAX = 4;

type Waiting = { readonly set: RankSetRef; rows: number; idleRounds: number };

/** Starts folding what is noted, round after round. */
export function startRankFolder({ db, log, periodMs = PERIOD_MS, bounds = BOUNDS }: RankFolderOptions): RankFolder {
  const waiting = new LRUCache<string, Waiting>({ max: SETS_MAX });
  let stopped = false;
  let current: Promise<number> | undefined;

  const foldSet = async (entry: Waiting): Promise<number> => {
    let folded = 0;
    for (let rows = -1; rows !== 0 && !stopped; folded += rows) rows = await foldRankRows(db, entry.set, bounds);
    entry.rows = Math.max(0, entry.rows - folded);
    entry.idleRounds = folded === 0 ? entry.idleRounds + 1 : 0;
    return folded;
  };
  const foldDue = async (): Promise<number> => {
    let folded = 0;
    const due = Array.from(waiting.entries()).filter(([, entry]) => entry.rows >= bounds.entriesMin);
    for (const [name, entry] of due) {
      if (stopped) break;
      folded += await foldSet(entry);
      if (entry.idleRounds >= IDLE_ROUNDS_MAX) waiting.delete(name);
    }
    return folded;
  };
  const round = (): Promise<number> => {
    current ??= foldDue().finally(() => (current = undefined));
    return current;
  };
  const timer = setInterval(() => {
    round().catch((error: unknown) => {
      log.warn("rank metrics could not be folded; it is tried again", { error });
    });
  }, periodMs);
  timer.unref();

  return {
    note(set) {
      const name = `${set.runId}/${set.setId}`;
      let entry = waiting.get(name);
      if (entry === undefined) waiting.set(name, (entry = { set, rows: 0, idleRounds: 0 }));
      entry.rows += 1;
      entry.idleRounds = 0;
    },
    round,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await current?.catch(() => {});
    },
  };
}
