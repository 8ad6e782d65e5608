import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { deadlineExceeded, whenOver } from "@tidemark/work";
import { AppError } from "@tidemark/errors";
import type { ColumnsPage } from "./columns-page.rules.ts";
import type { BuiltSeries } from "./columns-reader.rules.ts";
import type { ReadPlan } from "./read-plan.rules.ts";

/** Takes the pages of a read and passes them to their decoder. */
export type PageSink = {
  readonly add: (page: ColumnsPage) => Promise<void> | void;
  readonly finish: () => Promise<BuiltSeries> | BuiltSeries;
};

/** Threads that build series from all of their points, so that no other request waits for one. */
export type SeriesThreads = {
  /**
   * Runs a read on a thread of its own. The organization whose last read started longest ago comes first. When the request is over, the thread ends, even in the middle of work, and the next read
   * gets a new one.
   * @throws service_unavailable if it could not start within 4 s, deadline_exceeded
   */
  use<T>(orgId: string, read: (open: (plan: ReadPlan) => PageSink) => Promise<T>): Promise<T>;
  /** Ends all threads. Running and waiting reads are rejected. */
  close(): Promise<void>;
};

/** A message to a series thread: begin a read, take a page, or finish. */
export type ThreadTask = { readonly begin: ReadPlan } | { readonly page: ColumnsPage } | { readonly finish: true };

/** The answer of a thread to each page, and at the end. */
export type ThreadAnswer = { readonly taken: true } | { readonly built: BuiltSeries } | { readonly failure: string };

/** The longest time that a read waits for a thread. */
const WAIT_MS_MAX = 4000;

type Waiting = { readonly orgId: string; readonly admit: () => void; readonly refuse: (error: Error) => void };

/** Creates the threads of a process, 1 or more, which start when first needed. */
export function createSeriesThreads(threads: number): SeriesThreads {
  const idle: Worker[] = [];
  const running = new Set<Worker>();
  const queue: Waiting[] = [];
  /** By organization, the number of its last started read: reads are counted as they start. Empty while none waits or runs. */
  const lastStarts = new Map<string, number>();
  let starts = 0;
  let taken = 0;
  let isClosed = false;

  const admitNext = (): void => {
    while (taken < threads && queue.length > 0) {
      const oldest = Math.min(...queue.map(({ orgId }) => lastStarts.get(orgId) ?? 0));
      const at = queue.findIndex(({ orgId }) => (lastStarts.get(orgId) ?? 0) === oldest);
      const [next] = queue.splice(at, 1);
      lastStarts.set(next!.orgId, (starts += 1));
      taken += 1;
      next!.admit();
    }
    if (taken === 0) lastStarts.clear();
  };

  const enter = (orgId: string): Promise<void> =>
    new Promise((resolve, reject) => {
      if (isClosed) return reject(closedError());
      const leave = (error: Error): void => {
        const at = queue.indexOf(waiting);
        if (at < 0) return;
        queue.splice(at, 1);
        waiting.refuse(error);
      };
      const timer = setTimeout(() => leave(tooBusy()), WAIT_MS_MAX);
      const forget = whenOver(() => leave(deadlineExceeded()));
      const end = (then: () => void): void => {
        clearTimeout(timer);
        forget();
        then();
      };
      const waiting: Waiting = {
        orgId,
        admit: () => end(resolve),
        refuse: (error) => end(() => reject(error)),
      };
      queue.push(waiting);
      admitNext();
    });

  return {
    async use(orgId, read) {
      await enter(orgId);
      const worker = idle.pop() ?? new Worker(new URL("./series-thread.ts", import.meta.url));
      running.add(worker);
      worker.ref();
      let isOver = false;
      const forget = whenOver(() => {
        isOver = true;
        void worker.terminate();
      });
      let isIntact = false;
      try {
        const found = await read((plan) => sinkOf(worker, plan, () => isOver));
        isIntact = true;
        return found;
      } finally {
        forget();
        running.delete(worker);
        // Otherwise the thread would go on with the unfinished read.
        if (isIntact && !isOver && !isClosed) {
          worker.unref();
          idle.push(worker);
        } else void worker.terminate();
        taken -= 1;
        admitNext();
      }
    },
    async close() {
      isClosed = true;
      for (const { refuse } of queue.splice(0)) refuse(closedError());
      await Promise.all([...idle, ...running].map((worker) => worker.terminate()));
    },
  };
}

/** Returns a function that passes pages on to a thread: one is on its way while the thread works on another. */
function sinkOf(worker: Worker, plan: ReadPlan, isOver: () => boolean): PageSink {
  const answers = answersOf(worker, isOver);
  let inside = 0;
  const tell = (task: ThreadTask, transfer: ArrayBuffer[] = []): void => worker.postMessage(task, transfer);
  tell({ begin: plan });
  return {
    async add(page) {
      tell({ page }, [page.bytes.buffer]);
      inside += 1;
      if (inside > 1) {
        await answers.next();
        inside -= 1;
      }
    },
    async finish() {
      for (; inside > 0; inside -= 1) await answers.next();
      tell({ finish: true });
      const answer = await answers.next();
      if (!("built" in answer)) throw new Error("a series thread did not finish");
      return answer.built;
    },
  };
}

/** Returns the answers of a thread one by one. */
function answersOf(worker: Worker, isOver: () => boolean): { next(): Promise<ThreadAnswer> } {
  const ended = once(worker, "exit").then(() => {
    throw isOver() ? deadlineExceeded() : new Error("a series thread ended");
  });
  // Only a reader that waits for an answer needs the error.
  ended.catch(() => {});
  const queue: ThreadAnswer[] = [];
  let wake: (() => void) | undefined;
  worker.removeAllListeners("message");
  worker.on("message", (answer: ThreadAnswer) => {
    queue.push(answer);
    wake?.();
  });
  return {
    async next() {
      if (queue.length === 0) await Promise.race([ended, new Promise<void>((resolve) => (wake = resolve))]);
      const answer = queue.shift()!;
      if ("failure" in answer) throw new Error(`a series failed in its thread: ${answer.failure}`);
      return answer;
    },
  };
}

function tooBusy(): AppError {
  return new AppError("service_unavailable", "too many series are being read; try again", { retryAfterSeconds: 1 });
}

function closedError(): Error {
  return new Error("the series threads are closed");
}
