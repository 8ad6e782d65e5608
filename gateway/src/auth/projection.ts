import type { GetProjectionResponse } from "@tidemark/proto/control/v1/control";
import { createRefresher } from "@tidemark/work";
import type { Log } from "@tidemark/telemetry";
import type { Directory } from "./directory.ts";

/** Keeps the directory equal to the tables of the control service. */
export type Projection = {
  /** Begins to load and to poll; does not wait. */
  readonly start: () => void;
  /**
   * Reads all changes that exist when it is called, and resolves when they are in the directory.
   * It does not reject: a failure shows in `degraded`.
   */
  readonly refresh: () => Promise<void>;
  /** Refreshes soon, once for many calls. Called when something has changed. */
  readonly wake: () => void;
  /** True once everything has been read for the first time. */
  readonly loaded: () => boolean;
  /** True while the latest refresh failed. */
  readonly degraded: () => boolean;
  /** True while the directory may be trusted: the latest success is at most 60 s old. */
  readonly fresh: () => boolean;
  readonly stop: () => void;
};

/** A safety net for the events: a lost one costs seconds (API specification, Health: control projection). */
const POLL_MS = 5000;
const RETRY_MS = 500;
/** Simultaneous changes share one refresh. */
const COALESCE_MS = 20;
const FRESH_MS = 60_000;

/** Creates a projection; `fetchPage` asks the control service, `nowMs` is a clock that never goes back. */
export function createProjection(options: {
  readonly directory: Directory;
  readonly fetchPage: (cursor: string) => Promise<GetProjectionResponse>;
  readonly nowMs: () => number;
  readonly log: Log;
}): Projection {
  const { directory, fetchPage, nowMs, log } = options;
  let cursor = "";

  const readChanges = async (): Promise<void> => {
    let more = true;
    while (more) {
      const page = await fetchPage(cursor);
      if (page.fromStart) directory.beginSnapshot();
      directory.put(page);
      ({ cursor, more } = page);
    }
    directory.endSnapshot();
  };

  const refresher = createRefresher({
    pass: readChanges,
    pollMs: POLL_MS,
    retryMs: RETRY_MS,
    coalesceMs: COALESCE_MS,
    nowMs,
    onFailed: (error) => log.warn("the control projection could not be refreshed", { error }),
    onRecovered: () => log.info("the control projection is up to date again"),
  });
  const { start, wake, loaded, degraded, currentAtMs } = refresher;

  return {
    start,
    refresh: async () => void (await refresher.refresh()),
    wake,
    loaded,
    degraded,
    fresh: () => nowMs() - (currentAtMs() ?? Number.NEGATIVE_INFINITY) <= FRESH_MS,
    stop: () => void refresher.stop(),
  };
}
