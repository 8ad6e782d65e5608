import { setTimeout as pause } from "node:timers/promises";
import { deadline, type Subscription } from "@nats-io/nats-core";
import { AppError } from "@tidemark/errors";
import type { Bus, BusMessage, BusSubscription } from "./bus.ts";
import type { NatsBusOptions } from "./create-nats-bus.ts";
import { busLimits } from "./limits.ts";
import { fromNats, toNatsHeaders } from "./nats-message.ts";
import { ensureStream, openSession, type NatsSession } from "./nats-session.ts";
import { createNatsWorker, type NatsWorker } from "./nats-worker.ts";
import { checkDurable, checkMessage, checkPattern } from "./subject.ts";

type Listener = {
  readonly pattern: string;
  readonly onMessage: (message: BusMessage) => void;
  readonly onReconnect: () => void;
  subscription: Subscription | undefined;
};

/** The bus of `createNatsBus`. */
export async function openNatsBus(options: NatsBusOptions): Promise<Bus> {
  const { log, token, stream = "TIDEMARK" } = options;
  const servers = options.url.split(",").map((server) => server.trim());
  const closing = new AbortController();
  const listeners = new Set<Listener>();
  const workers = new Set<NatsWorker>();
  let session: NatsSession | undefined;

  async function keepConnected(onFirst: () => void): Promise<void> {
    let failures = 0;
    while (!closing.signal.aborted) {
      try {
        const next = await openSession({ servers, stream, token });
        failures = 0;
        await serve(next, onFirst);
      } catch (error) {
        // Once for an outage, then once in a while.
        if (failures++ % 30 === 0) log.warn("event bus is not reachable", { error });
      }
      const delayMs = Math.min(100 * 2 ** failures, 2_000) * (0.75 + Math.random() / 2);
      await pause(delayMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  /** Runs one session to its end. */
  async function serve(next: NatsSession, onUp: () => void): Promise<void> {
    if (closing.signal.aborted) return next.nc.close();
    void reportErrors(next);
    session = next;
    const missed = [...listeners];
    for (const listener of missed) subscribe(listener, next);
    for (const worker of workers) worker.attach(next);
    try {
      await next.nc.flush();
      log.info("event bus connected", { server: next.nc.getServer() });
      onUp();
      // Only now is nothing lost any more between the catching up and the next message.
      for (const listener of missed) guarded("bus listener failed to catch up", listener.pattern, listener.onReconnect);
      await next.nc.closed();
    } finally {
      session = undefined;
      await next.nc.close();
    }
    if (!closing.signal.aborted) log.warn("event bus connection lost");
  }

  async function reportErrors({ nc }: NatsSession): Promise<void> {
    for await (const status of nc.status())
      if (status.type === "error") log.warn("event bus reports an error", { error: status.error });
  }

  function subscribe(listener: Listener, { nc }: NatsSession): void {
    listener.subscription = nc.subscribe(listener.pattern, {
      callback(error, message) {
        if (error) log.warn("event bus ended a subscription", { error, subject: listener.pattern });
        else guarded("bus listener failed", message.subject, () => listener.onMessage(fromNats(message, 1)));
      },
    });
  }

  function guarded(text: string, subject: string, act: () => void): void {
    try {
      act();
    } catch (error) {
      log.warn(text, { error, subject });
    }
  }

  const bus: Bus = {
    async publish(subject, data, { id, headers = {} }) {
      checkMessage(subject, data, { id, headers });
      const at = session;
      if (at === undefined) throw unavailable();
      const send = (timeout: number): Promise<unknown> =>
        at.js.publish(subject, data, { msgID: id, headers: toNatsHeaders(headers), timeout });
      const half = busLimits.publishTimeoutMs / 2;
      try {
        await send(half);
      } catch (first) {
        if (at.nc.isClosed()) throw unavailable(first);
        // A stream that was deleted under us shows as silence as soon as somebody listens: nobody else takes the
        // message.
        const again = async (): Promise<void> => {
          await ensureStream(at);
          await send(half);
        };
        await deadline(again(), half).catch((second: unknown) => {
          throw unavailable(second);
        });
      }
    },

    async listen(pattern, onMessage, onReconnect = () => {}) {
      checkPattern(pattern);
      const listener: Listener = { pattern, onMessage, onReconnect, subscription: undefined };
      listeners.add(listener);
      const at = session;
      if (at !== undefined) {
        subscribe(listener, at);
        // Lost in between: the next session subscribes again and tells the listener to catch up.
        await at.nc.flush().catch(() => {});
      }
      return {
        async close() {
          listeners.delete(listener);
          listener.subscription?.unsubscribe();
        },
      };
    },

    async work(pattern, durable, handler, workOptions = {}) {
      checkPattern(pattern);
      checkDurable(durable);
      const worker = createNatsWorker({ pattern, durable, handler, work: workOptions, log });
      workers.add(worker);
      if (session !== undefined) worker.attach(session);
      const subscription: BusSubscription = {
        async close() {
          workers.delete(worker);
          await worker.close();
        },
      };
      return subscription;
    },

    connected: () => session !== undefined && !session.nc.isClosed(),

    async close() {
      closing.abort();
      const at = session;
      await Promise.all([...workers].map((worker) => worker.close()));
      for (const listener of listeners) listener.subscription?.unsubscribe();
      listeners.clear();
      if (at !== undefined) {
        // The last acknowledgements leave before the connection does.
        await deadline(at.nc.flush(), 1_000).catch(() => {});
        await at.nc.close();
      }
      session = undefined;
      await running;
    },
  };

  const first = Promise.withResolvers<void>();
  const running = keepConnected(first.resolve);
  await Promise.race([first.promise, pause(2_000, undefined, { ref: false })]);
  return bus;
}

function unavailable(cause?: unknown): AppError {
  return new AppError("service_unavailable", "the event bus is not reachable", { retryAfterSeconds: 1, cause });
}
