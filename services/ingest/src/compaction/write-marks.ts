import { LRUCache } from "lru-cache";

/** Decides which writes ask for compaction, so that almost none bears the cost of asking. */
export type WriteMarks = {
  /** Seconds after which the compactor shall look, if this write is to leave a mark; else null. */
  next(what: string, bytes: number): number | null;
  /** The write that was to leave a mark did not happen. */
  forget(what: string): void;
};

/** A mark at this interval at least. Work is kept for much longer after its last mark, so no write is ever overlooked. */
const REPEAT_SECONDS = 5 * 60;
/** So many writes, unless said otherwise, or bytes, since the last mark are worth compacting soon. */
const ROWS_SOON = 64;
const BYTES_SOON = 256 * 1024;

/**
 * Marks of a process: the first write of each thing leaves one, then every `rowsSoon`th (64th) or the one that makes 256 KiB, and one every five minutes.
 * @param nowMs a clock that never steps back
 */
export function createWriteMarks(options: {
  readonly nowMs: () => number;
  readonly soonSeconds: number;
  readonly laterSeconds: number;
  readonly remembered: number;
  readonly rowsSoon?: number;
}): WriteMarks {
  const { nowMs, soonSeconds, laterSeconds, rowsSoon = ROWS_SOON } = options;
  const marked = new LRUCache<string, { atMs: number; rows: number; bytes: number }>({ max: options.remembered });
  return {
    next(what, bytes) {
      const now = nowMs();
      const last = marked.get(what);
      if (last === undefined || now - last.atMs >= REPEAT_SECONDS * 1000) {
        marked.set(what, { atMs: now, rows: 0, bytes: 0 });
        return laterSeconds;
      }
      last.rows += 1;
      last.bytes += bytes;
      if (last.rows < rowsSoon && last.bytes < BYTES_SOON) return null;
      marked.set(what, { atMs: now, rows: 0, bytes: 0 });
      return soonSeconds;
    },
    forget: (what) => void marked.delete(what),
  };
}
