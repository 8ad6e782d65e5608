import { busLimits, retryDelayMs, type BusMessage, type WorkOptions } from "./bus.ts";

/** A message that was not delivered yet. */
export type StoredMessage = Omit<BusMessage, "attempt">;

/** One worker's part in a queue. */
export type MemoryWorker = {
  readonly handler: (message: BusMessage) => Promise<void>;
  readonly options: WorkOptions;
  /** Called when a handler or `onDead` throws. */
  readonly onError: (error: unknown, message: BusMessage) => void;
};

/** One durable work queue of the in-process bus. */
export type MemoryQueue = {
  push(message: StoredMessage): void;
  /** Adds a worker. Returns a function that removes it and resolves when its handlers have ended. */
  addWorker(worker: MemoryWorker): () => Promise<void>;
  /** Drops all waiting messages. */
  clear(): void;
};

type Item = { readonly message: StoredMessage; attempt: number; done: boolean };
type Seat = { readonly worker: MemoryWorker; readonly running: Set<Promise<void>>; open: boolean };

/**
 * Creates an empty queue. It keeps at most `messagesMax` waiting messages and then drops the oldest, as the stream of a
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
    // Handlers never start inside the call of the publisher.
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
      // A later delivery has started already, and its outcome counts.
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
    // A waiting message does not keep the process alive: its event is in PostgreSQL.
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
