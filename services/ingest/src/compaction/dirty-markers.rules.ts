import { LRUCache } from "lru-cache";

/** Decides which writes leave a dirty marker, which asks for compaction, so that almost no write pays for asking. */
export type DirtyMarkers = {
  /** Returns the seconds until the compactor should look if this write is to leave a marker; null if it is to leave none. */
  next(what: string, bytes: number): number | null;
  /** Takes back the decision for a write that was to leave a marker and was not stored: the next write leaves one. */
  forget(what: string): void;
};

/** The longest time between two markers of a writer. Work outlives its last marker by much longer, so no write is ever overlooked. */
const REPEAT_SECONDS = 5 * 60;
/** This many writes (unless the caller overrides it) or bytes since the last marker are worth compacting soon. */
const ROWS_SOON = 64;
const BYTES_SOON = 256 * 1024;

/**
 * Creates the dirty markers of a process. For each thing, the first write leaves a marker, then every `rowsSoon`th (64th) write or the write that makes
 * 256 KiB, and one write every five minutes.
 * @param nowMs a clock that never steps back
 */
export function createDirtyMarkers(options: {
  readonly nowMs: () => number;
  readonly soonSeconds: number;
  readonly laterSeconds: number;
  readonly remembered: number;
  readonly rowsSoon?: number;
}): DirtyMarkers {
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
