import { AppError } from "@tidemark/errors";
import type { Log } from "@tidemark/telemetry";
import {
  busLimits,
  type Bus,
  type BusMessage,
  type BusSubscription,
  checkAnnouncement,
  checkDurable,
  checkMessage,
  checkPattern,
  subjectMatches,
} from "./bus.ts";
import { createMemoryQueue, type MemoryQueue, type StoredMessage } from "./memory-queue.ts";

/** How many messages are kept for work queues that do not exist yet, and how many may wait in one queue. */
const kept = { messagesMax: 1_000, waitingMax: 10_000 };

type Listener = { readonly pattern: string; readonly onMessage: (message: BusMessage) => void };

/**
 * Creates a bus inside this process, for an installation of one process and for tests. It behaves as the bus over NATS,
 * except that it is always reachable and that its messages end with the process; it drops the oldest messages to bound
 * its memory.
 */
export function createMemoryBus(options: { readonly log?: Log } = {}): Bus {
  const listeners = new Set<Listener>();
  const queues = new Map<string, { readonly pattern: string; readonly queue: MemoryQueue }>();
  const recent: StoredMessage[] = [];
  const seen = new Map<string, number>();
  const closers = new Set<() => Promise<void>>();
  let open = true;

  const complain = (text: string) => (error: unknown, message: BusMessage) =>
    options.log?.warn(text, { error, subject: message.subject, message_id: message.id, attempt: message.attempt });
  const workerFailed = complain("bus worker failed");
  const listenerFailed = complain("bus listener failed");

  function takeOnce(id: string): boolean {
    const now = performance.now();
    for (const [old, until] of seen) {
      if (until > now) break;
      seen.delete(old);
    }
    if (seen.has(id)) return false;
    seen.set(id, now + busLimits.dedupWindowMs);
    return true;
  }

  function tell(listener: Listener, message: BusMessage): void {
    if (!listeners.has(listener)) return;
    try {
      listener.onMessage(message);
    } catch (error) {
      listenerFailed(error, message);
    }
  }

  function subscription(close: () => Promise<void>): BusSubscription {
    let closed: Promise<void> | undefined;
    const once = (): Promise<void> => (closed ??= close().finally(() => closers.delete(once)));
    closers.add(once);
    return { close: once };
  }

  return {
    async publish(subject, data, { id, headers = {} }) {
      checkMessage(subject, data, { id, headers });
      if (!open) throw new AppError("service_unavailable", "the event bus is closed");
      if (!takeOnce(id)) return;
      // Copied, because the publisher may reuse its buffer.
      const message: StoredMessage = { subject, id, data: data.slice(), headers: { ...headers } };
      recent.push(message);
      if (recent.length > kept.messagesMax) recent.shift();
      for (const { pattern, queue } of queues.values()) if (subjectMatches(pattern, subject)) queue.push(message);
      for (const listener of listeners)
        if (subjectMatches(listener.pattern, subject)) setImmediate(tell, listener, { ...message, attempt: 1 });
    },

    announce(subject, data) {
      checkAnnouncement(subject, data);
      if (!open) return false;
      const message: BusMessage = { subject, id: "", data: data.slice(), headers: {}, attempt: 1 };
      for (const listener of listeners)
        if (subjectMatches(listener.pattern, subject)) setImmediate(tell, listener, message);
      return true;
    },

    async listen(pattern, onMessage) {
      checkPattern(pattern);
      const listener: Listener = { pattern, onMessage };
      listeners.add(listener);
      return subscription(async () => void listeners.delete(listener));
    },

    async work(pattern, durable, handler, workOptions = {}) {
      checkPattern(pattern);
      checkDurable(durable);
      let entry = queues.get(durable);
      if (entry === undefined) {
        entry = { pattern, queue: createMemoryQueue(kept.waitingMax) };
        queues.set(durable, entry);
        for (const message of recent) if (subjectMatches(pattern, message.subject)) entry.queue.push(message);
      }
      return subscription(entry.queue.addWorker({ handler, options: workOptions, onError: workerFailed }));
    },

    connected: () => open,

    async close() {
      open = false;
      await Promise.all([...closers].map((close) => close()));
      for (const { queue } of queues.values()) queue.clear();
    },
  };
}
