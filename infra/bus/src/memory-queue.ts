import type { BusMessage, WorkOptions } from "./bus.ts";
import { busLimits, retryDelayMs } from "./limits.ts";

/** A message before anybody got it. */
export type StoredMessage = Omit<BusMessage, "attempt">;

/** One worker's part in a queue. */
export type MemoryWorker = {
  readonly handler: (message: BusMessage) => Promise<void>;
  readonly options: WorkOptions;
  /** Told when a handler or `onDead` throws. */
  readonly onError: (error: unknown, message: BusMessage) => void;
};

/** One durable work queue of the in-process bus. */
export type MemoryQueue = {
  push(message: StoredMessage): void;
  /** Adds a worker; what it returns takes the worker out and resolves when its handlers have ended. */
  addWorker(worker: MemoryWorker): () => Promise<void>;
  /** Forgets everything that waits. */
  clear(): void;
};

type Item = { readonly message: StoredMessage; attempt: number; done: boolean };
type Seat = { readonly worker: MemoryWorker; readonly running: Set<Promise<void>>; open: boolean };

/**
 * Makes an empty queue. It holds at most `messagesMax` waiting messages and then drops the oldest, as the stream of a
 * server does.
 */
export function createMemoryQueue(messagesMax: number): MemoryQueue {
  const ready: Item[] = [];
  const seats: Seat[] = [];
  const timers = new Set<NodeJS.Timeout>();

  function enqueue(item: Item): void {
    ready.push(item);
    if (ready.length > messagesMax) ready.shift();
    pump();
  }

  function pump(): void {
    while (ready.length > 0) {
      const index = seats.findIndex((seat) => seat.open && seat.running.size < (seat.worker.options.concurrency ?? 1));
      const seat = seats[index];
      const item = seat && ready.shift();
      if (!seat || !item) return;
      // To the back of the line, so that workers take turns.
      seats.push(...seats.splice(index, 1));
      const run = deliver(item, seat.worker).finally(() => {
        seat.running.delete(run);
        pump();
      });
      seat.running.add(run);
    }
  }

  async function deliver(item: Item, { handler, options, onError }: MemoryWorker): Promise<void> {
    // Handlers start on a stack of their own, never inside the publisher's.
    await Promise.resolve();
    const attempt = ++item.attempt;
    const message: BusMessage = { ...item.message, attempt };
    const { ackWaitMs = busLimits.ackWaitMsDefault, maxDeliver = Infinity } = options;
    if (attempt > maxDeliver) return bury(item, message, options, onError);
    const cancel = later(ackWaitMs, () => {
      if (!item.done && item.attempt === attempt) enqueue(item);
    });
    try {
      await handler(message);
      item.done = true;
    } catch (error) {
      onError(error, message);
      // A later delivery is under way already: its outcome counts.
      if (item.done || item.attempt !== attempt) return;
      cancel();
      if (attempt >= maxDeliver) bury(item, message, options, onError);
      else later(retryDelayMs(attempt), () => enqueue(item));
    } finally {
      if (item.done) cancel();
    }
  }

  function bury(item: Item, message: BusMessage, options: WorkOptions, onError: MemoryWorker["onError"]): void {
    item.done = true;
    try {
      options.onDead?.(message);
    } catch (error) {
      onError(error, message);
    }
  }

  function later(delayMs: number, act: () => void): () => void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, delayMs);
    // A message that waits is no reason to stay alive: its event is in PostgreSQL.
    timer.unref();
    timers.add(timer);
    return () => {
      clearTimeout(timer);
      timers.delete(timer);
    };
  }

  return {
    push: (message) => enqueue({ message, attempt: 0, done: false }),
    addWorker(worker) {
      const seat: Seat = { worker, running: new Set(), open: true };
      seats.push(seat);
      pump();
      return async () => {
        seat.open = false;
        await Promise.allSettled(seat.running);
        const index = seats.indexOf(seat);
        if (index >= 0) seats.splice(index, 1);
      };
    },
    clear() {
      ready.length = 0;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
