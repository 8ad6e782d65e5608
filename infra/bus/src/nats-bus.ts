import { setTimeout as pause } from "node:timers/promises";
import { deadline, type Subscription } from "@nats-io/nats-core";
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
} from "./bus.ts";
import { ensureStream, fromNats, openSession, toNatsHeaders, type NatsSession } from "./nats-session.ts";
import { createNatsWorker, type NatsWorker } from "./nats-worker.ts";

/** The location of a bus over NATS. */
export type NatsBusOptions = {
  /** `nats://host:port`, several separated by commas. */
  readonly url: string;
  /** Name of the JetStream stream; default `TIDEMARK`. */
  readonly stream?: string;
  readonly log: Log;
  readonly token?: string;
};

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
        // Log the start of an outage, then every thirtieth failure.
        if (failures++ % 30 === 0) log.warn("event bus is not reachable", { error });
      }
      const delayMs = Math.min(100 * 2 ** failures, 2_000) * (0.75 + Math.random() / 2);
      // The pause fails when the bus is closed, which ends the loop.
      await pause(delayMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  /** Serves one session until it ends. */
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
      // Only after the flush nothing can be lost between catching up and the next message.
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
        // If the stream was deleted and a listener exists, the server does not answer: a listener has received the
        // message, but nothing has stored it.
        const again = async (): Promise<void> => {
          await ensureStream(at);
          await send(half);
        };
        await deadline(again(), half).catch((second: unknown) => {
          throw unavailable(second);
        });
      }
    },

    announce(subject, data) {
      checkAnnouncement(subject, data);
      if (session === undefined || session.nc.isClosed()) return false;
      // Copied, because the client sends it later and the publisher may reuse its buffer.
      session.nc.publish(subject, data.slice());
      return true;
    },

    async listen(pattern, onMessage, onReconnect = () => {}) {
      checkPattern(pattern);
      const listener: Listener = { pattern, onMessage, onReconnect, subscription: undefined };
      listeners.add(listener);
      const at = session;
      if (at !== undefined) {
        subscribe(listener, at);
        // If the connection is lost here, the next session subscribes again and makes the listener catch up.
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
        // Send the last acknowledgements before the connection closes. Messages whose acknowledgement is lost arrive again.
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
