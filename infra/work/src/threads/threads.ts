import { Worker } from "node:worker_threads";
import { deadlineExceeded, whenOver } from "../deadline/deadline.ts";
import { AppError } from "@tidemark/errors";
import type { Question, Reply, Sent } from "./answer-tasks.ts";

/** Threads for work that would block every other request of the process. */
export type Threads<Task, Result> = {
  /**
   * Has a thread do a task of an organization and returns its result. Organizations take turns, and none has the last of several threads, so a task
   * never waits for all tasks of another organization. A task that has not ended in time ends its thread, even while it is busy, and the next one
   * gets a new thread. The message is made when the turn of the task comes; a task whose caller stops waiting before that is not begun.
   * @throws any error of the task, `tooLong` and `tooMany` of the options, deadline_exceeded
   */
  run(orgId: string, send: () => Sent<Task>): Promise<Result>;
  /** Ends all threads. Tasks that run or wait are rejected. */
  close(): Promise<void>;
};

/** The options of threads. */
export type ThreadsOptions = {
  /** The module that a thread runs, which calls `answerTasks`. */
  readonly entry: URL;
  /** The data that threads start with, as their `workerData`. */
  readonly data?: unknown;
  /** The number of threads, 1 or more. They start when first needed. */
  readonly threads: number;
  /** Milliseconds that a task may run, that it may wait for its turn, and both together. */
  readonly runMsMax: number;
  readonly waitMsMax: number;
  readonly totalMsMax: number;
  /** The errors of a task that ran too long, and of one that had no turn. */
  readonly tooLong: () => AppError;
  readonly tooMany: () => AppError;
};

type Job<Task, Result> = {
  readonly orgId: string;
  readonly number: number;
  readonly send: () => Sent<Task>;
  readonly since: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** Ends the watches of a waiting task. */
  unwatch: (() => void) | undefined;
};

type Thread<Task, Result> = {
  readonly worker: Worker;
  job: Job<Task, Result> | undefined;
  timer: NodeJS.Timeout | undefined;
};

/** Creates the threads of a process for one kind of task. */
export function createThreads<Task, Result>(options: ThreadsOptions): Threads<Task, Result> {
  const { entry, data, runMsMax, waitMsMax, totalMsMax, tooLong, tooMany } = options;
  const threads = new Set<Thread<Task, Result>>();
  const queue: Job<Task, Result>[] = [];
  /** By organization, the turn of its last task that started. Empty while no task waits or runs. */
  const turns = new Map<string, number>();
  let number = 0;
  let turn = 0;
  let closed = false;

  const endJob = (thread: Thread<Task, Result>, end: (job: Job<Task, Result>) => void): void => {
    const { job } = thread;
    clearTimeout(thread.timer);
    thread.job = undefined;
    if (job !== undefined) end(job);
    next();
  };

  const open = (): Thread<Task, Result> => {
    const worker = new Worker(entry, { workerData: data });
    const thread: Thread<Task, Result> = { worker, job: undefined, timer: undefined };
    threads.add(thread);
    worker.on("message", (reply: Reply<Result>) => {
      if (reply.number === thread.job?.number) endJob(thread, (job) => conclude(job, reply));
    });
    const lost = (error: unknown): void => {
      threads.delete(thread);
      endJob(thread, ({ reject }) => reject(error));
    };
    worker.on("error", lost);
    worker.on("exit", () => lost(new Error("a thread ended")));
    // An idle thread does not keep the process alive.
    worker.unref();
    return thread;
  };

  const start = (thread: Thread<Task, Result>, job: Job<Task, Result>): void => {
    thread.job = job;
    job.unwatch?.();
    const { value, transfer = [] } = job.send();
    thread.worker.postMessage({ number: job.number, task: value } satisfies Question<Task>, transfer);
    const left = totalMsMax - (performance.now() - job.since);
    thread.timer = setTimeout(
      () => {
        // Its place is free immediately: no task waits until the thread has ended.
        threads.delete(thread);
        void thread.worker.terminate();
        endJob(thread, ({ reject }) => reject(tooLong()));
      },
      Math.min(runMsMax, left),
    );
  };

  const next = (): void => {
    if (closed) return;
    while (queue.length > 0) {
      const idle = [...threads].find(({ job }) => job === undefined);
      if (idle === undefined && threads.size >= options.threads) return;
      const job = takeFairly(queue, threads, turns, Math.max(1, options.threads - 1));
      if (job === undefined) return;
      turns.set(job.orgId, (turn += 1));
      start(idle ?? open(), job);
    }
    if ([...threads].every(({ job }) => job === undefined)) turns.clear();
  };

  return {
    run: (orgId, send) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new Error("the threads are closed"));
        number += 1;
        const since = performance.now();
        const job: Job<Task, Result> = { orgId, number, send, since, resolve, reject, unwatch: undefined };
        queue.push(job);
        next();
        if (!queue.includes(job)) return;
        const giveUp = (why: AppError): void => {
          job.unwatch?.();
          queue.splice(queue.indexOf(job), 1);
          reject(why);
        };
        const timer = setTimeout(() => giveUp(tooMany()), waitMsMax).unref();
        const forget = whenOver(() => giveUp(deadlineExceeded()));
        job.unwatch = () => {
          clearTimeout(timer);
          forget();
        };
      }),
    async close() {
      closed = true;
      for (const { unwatch, reject } of queue.splice(0)) {
        unwatch?.();
        reject(new Error("the threads were closed"));
      }
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}

/**
 * Takes a task of the organization with the fewest running, and among these, of the one with the oldest last turn. Returns undefined if each
 * that waits has `share` running.
 */
function takeFairly<Task, Result>(
  queue: Job<Task, Result>[],
  threads: ReadonlySet<Thread<Task, Result>>,
  turns: ReadonlyMap<string, number>,
  share: number,
): Job<Task, Result> | undefined {
  const running = (orgId: string): number => [...threads].filter(({ job }) => job?.orgId === orgId).length;
  const before = (a: string, b: string): number => running(a) - running(b) || (turns.get(a) ?? 0) - (turns.get(b) ?? 0);
  let best = 0;
  for (let index = 1; index < queue.length; index += 1) {
    if (before(queue[index]!.orgId, queue[best]!.orgId) < 0) best = index;
  }
  if (running(queue[best]!.orgId) >= share) return undefined;
  return queue.splice(best, 1)[0];
}

function conclude<Task, Result>(job: Job<Task, Result>, reply: Reply<Result>): void {
  if ("result" in reply) return job.resolve(reply.result);
  if ("failure" in reply) return job.reject(new Error(`a task failed in its thread: ${reply.failure}`));
  const { reason, message, field, position, retryAfterSeconds } = reply.fault;
  job.reject(
    new AppError(reason, message, {
      ...(field === undefined ? {} : { field }),
      ...(position === undefined ? {} : { position }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    }),
  );
}
