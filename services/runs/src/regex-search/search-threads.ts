import { AppError } from "@tidemark/errors";
import type { DbOptions } from "@tidemark/pg";
import { createThreads } from "@tidemark/work";
import { SEARCH_MS_MAX, tooBroad } from "../search/words.rules.ts";
import type { NameSearch, RegexSearch } from "./find-runs.ts";

/** A search for a thread: of runs, or of names. */
export type ThreadTask = RegexSearch | NameSearch;

/** Threads that run the searches with regular expressions, so that no other request waits for a search. */
export type SearchThreads = {
  /**
   * Returns the ids of all runs that a search finds, or the places of the names. Organizations share the threads fairly.
   * @throws run_search_invalid, for names bad_request; run_search_too_broad, also after 8 s; service_unavailable if it had no turn within 4 s
   */
  find(search: ThreadTask): Promise<readonly string[]>;
  /** Ends all threads. Searches that run or wait are rejected. */
  close(): Promise<void>;
};

/** The settings of the threads. */
export type SearchThreadsOptions = ThreadData & {
  /** Number of threads, 1 or more. They start when first needed. */
  readonly threads: number;
  /** Milliseconds after which a running search ends; for tests. */
  readonly searchMsMax?: number;
};

/** The data that a search thread starts with. */
export type ThreadData = { readonly connection: Pick<DbOptions, "url" | "role" | "application"> };

/** Longest that a search waits for its turn. */
const WAIT_MS_MAX = 4000;

/** Longest that a search waits and runs in total: a request is answered within 10 seconds. */
const TOTAL_MS_MAX = 9000;

/** Creates the threads of a process. */
export function createSearchThreads(options: SearchThreadsOptions): SearchThreads {
  const { connection, threads, searchMsMax = SEARCH_MS_MAX } = options;
  const pool = createThreads<ThreadTask, readonly string[]>({
    entry: new URL("./search-thread.ts", import.meta.url),
    data: { connection } satisfies ThreadData,
    threads,
    runMsMax: searchMsMax,
    waitMsMax: Math.min(searchMsMax, WAIT_MS_MAX),
    totalMsMax: TOTAL_MS_MAX,
    tooLong: tooBroad,
    tooMany: () =>
      new AppError("service_unavailable", "too many searches are running; try again", { retryAfterSeconds: 1 }),
  });
  return { find: (search) => pool.run(search.orgId, () => ({ value: search })), close: () => pool.close() };
}
