import { Worker } from "node:worker_threads";
import { AppError } from "@tidemark/errors";
import type { DbOptions } from "@tidemark/pg";
import { SEARCH_MS_MAX, tooBroad } from "./bounds.rules.ts";
import type { RegexSearch } from "./find-runs.ts";

/** Threads that do the searches with regular expressions, so that no other request waits for one. */
export type SearchThreads = {
  /**
   * Returns the ids of all runs that a search finds. Organizations take turns, and none has the last of several threads, so a search never waits
   * for all searches of another organization. A search that has not ended after 8 s ends its thread, whatever that is doing, and the next one
   * gets a new thread.
   * @throws run_search_invalid; run_search_too_broad, also after 8 s; service_unavailable if it had no turn within 4 s
   */
  find(search: RegexSearch): Promise<readonly string[]>;
  /** Ends all threads. Searches that run or wait are rejected. */
  close(): Promise<void>;
};

/** What threads need. */
export type SearchThreadsOptions = ThreadData & {
  /** How many, 1 or more. They start when first needed. */
  readonly threads: number;
  /** Milliseconds after which a running search ends; for tests. */
  readonly searchMsMax?: number;
};

/** What a search thread starts with. */
export type ThreadData = { readonly connection: Pick<DbOptions, "url" | "role" | "application"> };

/** A search for a thread. */
export type ThreadTask = { readonly number: number; readonly search: RegexSearch };

/** The answer to a task: the runs, an error for the caller, or an error for the log. */
export type ThreadAnswer =
  | { readonly number: number; readonly ids: readonly string[] }
  | {
      readonly number: number;
      readonly fault: Pick<AppError, "reason" | "message" | "field" | "position" | "retryAfterSeconds">;
    }
  | { readonly number: number; readonly failure: string };

/** Longest that a search waits for its turn. */
const WAIT_MS_MAX = 4000;

/** Longest that it waits and runs together: a request is answered within 10 seconds. */
const TOTAL_MS_MAX = 9000;

type Waiting = {
  readonly task: ThreadTask;
  readonly since: number;
  readonly resolve: (ids: readonly string[]) => void;
  readonly reject: (error: unknown) => void;
};

type Thread = { readonly worker: Worker; job: Waiting | undefined; timer: NodeJS.Timeout | undefined };

/** Creates the threads of a process. */
export function createSearchThreads(options: SearchThreadsOptions): SearchThreads {
  const { connection, searchMsMax = SEARCH_MS_MAX } = options;
  const threads = new Set<Thread>();
  const queue: Waiting[] = [];
  /** By organization, the turn of its last search that started. Empty while no search waits or runs. */
  const turns = new Map<string, number>();
  let number = 0;
  let turn = 0;
  let closed = false;

  const endJob = (thread: Thread, end: (job: Waiting) => void): void => {
    const { job } = thread;
    clearTimeout(thread.timer);
    thread.job = undefined;
    if (job !== undefined) end(job);
    next();
  };

  const open = (): Thread => {
    const worker = new Worker(new URL("./search-thread.ts", import.meta.url), { workerData: { connection } });
    const thread: Thread = { worker, job: undefined, timer: undefined };
    threads.add(thread);
    worker.on("message", (answer: ThreadAnswer) => {
      if (answer.number === thread.job?.task.number) endJob(thread, (job) => conclude(job, answer));
    });
    const lost = (error: unknown): void => {
      threads.delete(thread);
      endJob(thread, ({ reject }) => reject(error));
    };
    worker.on("error", lost);
    worker.on("exit", () => lost(new Error("a search thread ended")));
    // An idle thread does not keep the process alive.
    worker.unref();
    return thread;
  };

  const start = (thread: Thread, job: Waiting): void => {
    thread.job = job;
    thread.worker.postMessage(job.task);
    const left = TOTAL_MS_MAX - (performance.now() - job.since);
    thread.timer = setTimeout(
      () => {
        // Its place is free immediately: nothing waits until the thread has ended.
        threads.delete(thread);
        void thread.worker.terminate();
        endJob(thread, ({ reject }) => reject(tooBroad()));
      },
      Math.min(searchMsMax, left),
    );
  };

  const next = (): void => {
    if (closed) return;
    while (queue.length > 0) {
      const idle = [...threads].find(({ job }) => job === undefined);
      if (idle === undefined && threads.size >= options.threads) return;
      const job = takeFairly(queue, threads, turns, Math.max(1, options.threads - 1));
      if (job === undefined) return;
      turns.set(job.task.search.orgId, (turn += 1));
      start(idle ?? open(), job);
    }
    if ([...threads].every(({ job }) => job === undefined)) turns.clear();
  };

  return {
    find: (search) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new Error("the searches are closed"));
        number += 1;
        const job: Waiting = { task: { number, search }, since: performance.now(), resolve, reject };
        queue.push(job);
        next();
        setTimeout(
          () => {
            const index = queue.indexOf(job);
            if (index < 0) return;
            queue.splice(index, 1);
            reject(
              new AppError("service_unavailable", "too many searches are running; try again", { retryAfterSeconds: 1 }),
            );
          },
          Math.min(searchMsMax, WAIT_MS_MAX),
        ).unref();
      }),
    async close() {
      closed = true;
      for (const { reject } of queue.splice(0)) reject(new Error("the searches were closed"));
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}

/**
 * Takes a search of the organization with the fewest running, and among those of the one whose last turn is longest ago. Returns undefined if each
 * that waits has `share` running.
 */
function takeFairly(
  queue: Waiting[],
  threads: ReadonlySet<Thread>,
  turns: ReadonlyMap<string, number>,
  share: number,
): Waiting | undefined {
  const running = (orgId: string): number => [...threads].filter(({ job }) => job?.task.search.orgId === orgId).length;
  const before = (a: string, b: string): number => running(a) - running(b) || (turns.get(a) ?? 0) - (turns.get(b) ?? 0);
  let best = 0;
  for (let index = 1; index < queue.length; index += 1) {
    if (before(queue[index]!.task.search.orgId, queue[best]!.task.search.orgId) < 0) best = index;
  }
  if (running(queue[best]!.task.search.orgId) >= share) return undefined;
  return queue.splice(best, 1)[0];
}

function conclude(job: Waiting, answer: ThreadAnswer): void {
  if ("ids" in answer) return job.resolve(answer.ids);
  if ("failure" in answer) return job.reject(new Error(`a search failed in its thread: ${answer.failure}`));
  const { reason, message, field, position, retryAfterSeconds } = answer.fault;
  job.reject(
    new AppError(reason, message, {
      ...(field === undefined ? {} : { field }),
      ...(position === undefined ? {} : { position }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    }),
  );
}
