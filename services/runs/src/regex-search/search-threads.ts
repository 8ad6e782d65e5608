import { Worker } from "node:worker_threads";
import { AppError } from "@tidemark/errors";
import { SEARCH_MS_MAX, tooBroad } from "./bounds.ts";
import type { RegexSearch } from "./find-runs.ts";
import type { ThreadAnswer, ThreadData, ThreadTask } from "./thread-messages.ts";

/** Threads in which searches with regular expressions are done, so that none keeps a request waiting that is not one. */
export type SearchThreads = {
  /**
   * The ids of all runs that a search finds. Organizations take turns: none waits for all searches of
   * another one.
   * @throws run_search_invalid, run_search_too_broad also when it takes longer than 8 s, service_unavailable when it had no turn in time
   */
  find(search: RegexSearch): Promise<readonly string[]>;
  close(): Promise<void>;
};

/** What threads need. */
export type SearchThreadsOptions = ThreadData & {
  /** How many, 1 or more. They start with the first search. */
  readonly threads: number;
  /** Milliseconds after which a search ends that runs; for tests. */
  readonly searchMsMax?: number;
};

/** Longest that a search waits for its turn. */
const WAIT_MS_MAX = 4000;

/** Longest that it waits and runs together, so that it is answered within the 10 seconds of a request. */
const TOTAL_MS_MAX = 9000;

type Waiting = {
  readonly task: ThreadTask;
  readonly since: number;
  readonly resolve: (ids: readonly string[]) => void;
  readonly reject: (error: unknown) => void;
};

type Thread = { readonly worker: Worker; job: Waiting | undefined; timer: NodeJS.Timeout | undefined };

/** Opens threads for searches. */
export function createSearchThreads(options: SearchThreadsOptions): SearchThreads {
  const { connection, searchMsMax = SEARCH_MS_MAX } = options;
  const threads = new Set<Thread>();
  const queue: Waiting[] = [];
  /** The number of each organization's last search that began, while any search waits or runs. */
  const turns = new Map<string, number>();
  let number = 0;
  let turn = 0;
  let closed = false;

  const settle = (thread: Thread, end: (job: Waiting) => void): void => {
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
      if (answer.number === thread.job?.task.number) settle(thread, (job) => conclude(job, answer));
    });
    const lost = (error: unknown): void => {
      threads.delete(thread);
      settle(thread, ({ reject }) => reject(error));
    };
    worker.on("error", lost);
    worker.on("exit", () => lost(new Error("a search thread ended")));
    // An idle thread keeps no process alive.
    worker.unref();
    return thread;
  };

  const start = (thread: Thread, job: Waiting): void => {
    thread.job = job;
    thread.worker.postMessage(job.task);
    const left = TOTAL_MS_MAX - (performance.now() - job.since);
    thread.timer = setTimeout(
      () => {
        threads.delete(thread);
        void thread.worker.terminate();
        settle(thread, ({ reject }) => reject(tooBroad()));
      },
      Math.min(searchMsMax, left),
    );
  };

  const next = (): void => {
    if (closed) return;
    while (queue.length > 0) {
      const idle =
        [...threads].find(({ job }) => job === undefined) ?? (threads.size < options.threads ? open() : undefined);
      if (idle === undefined) return;
      const job = takeFairly(queue, threads, turns);
      turns.set(job.task.search.orgId, (turn += 1));
      start(idle, job);
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
            const place = queue.indexOf(job);
            if (place < 0) return;
            queue.splice(place, 1);
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

/** A search of the organization that has the fewest running; of several, of the one whose last turn is longest ago. */
function takeFairly(queue: Waiting[], threads: ReadonlySet<Thread>, turns: ReadonlyMap<string, number>): Waiting {
  const running = (orgId: string): number => [...threads].filter(({ job }) => job?.task.search.orgId === orgId).length;
  const before = (a: string, b: string): number => running(a) - running(b) || (turns.get(a) ?? 0) - (turns.get(b) ?? 0);
  let best = 0;
  for (let place = 1; place < queue.length; place += 1) {
    if (before(queue[place]!.task.search.orgId, queue[best]!.task.search.orgId) < 0) best = place;
  }
  return queue.splice(best, 1)[0]!;
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
