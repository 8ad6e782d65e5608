import { setTimeout as pause } from "node:timers/promises";
import {
  AckPolicy,
  DeliverPolicy,
  type Consumer,
  type ConsumerConfig,
  type ConsumerMessages,
  type JsMsg,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/nats-core";
import type { Log } from "@tidemark/telemetry";
import { busLimits, retryDelayMs, type BusMessage, type WorkOptions } from "./bus.ts";
import { ensureStream, fromNats, type NatsSession } from "./nats-session.ts";

/** One `work` subscription, which outlives sessions. */
export type NatsWorker = {
  /** Starts fetching in a session, until the session ends. */
  attach(session: NatsSession): void;
  /** Stops fetching. Resolves when running handlers have ended. */
  close(): Promise<void>;
};

/** How long one request for a message waits at the server, in milliseconds. */
const fetchMs = 30_000;

/**
 * Creates a worker of a durable consumer. Every seat fetches one message at a time, so that the wait for an outcome
 * starts when the handler does.
 */
export function createNatsWorker(options: {
  readonly pattern: string;
  readonly durable: string;
  readonly handler: (message: BusMessage) => Promise<void>;
  readonly work: WorkOptions;
  readonly log: Log;
}): NatsWorker {
  const { pattern, durable, handler } = options;
  const { ackWaitMs = busLimits.ackWaitMsDefault, maxDeliver = Infinity, concurrency = 1, onDead } = options.work;
  const log = options.log.child({ durable });
  const stopped = new AbortController();
  const fetches = new Set<ConsumerMessages>();
  let current: NatsSession | undefined;
  let attached = Promise.withResolvers<void>();

  async function runSeat(): Promise<void> {
    while (!stopped.signal.aborted) {
      const session = current;
      if (session === undefined || session.nc.isClosed()) await attached.promise;
      else await serve(session);
    }
  }

  /** Takes messages until the session ends or the worker is closed. */
  async function serve(session: NatsSession): Promise<void> {
    let consumer: Consumer | undefined;
    while (!stopped.signal.aborted && !session.nc.isClosed()) {
      try {
        consumer ??= await ensureConsumer(session, pattern, durable, ackWaitMs);
        const message = await fetchOne(consumer);
        if (message !== undefined) await handle(message, session);
      } catch (error) {
        if (stopped.signal.aborted || session.nc.isClosed()) return;
        // The consumer or its stream may have been deleted; create both again.
        log.warn("bus worker cannot fetch", { error });
        consumer = undefined;
        // The pause fails when the worker is stopped, which ends the loop.
        await pause(500, undefined, { signal: stopped.signal, ref: false }).catch(() => {});
      }
    }
  }

  async function fetchOne(consumer: Consumer): Promise<JsMsg | undefined> {
    const messages = await consumer.fetch({ max_messages: 1, expires: fetchMs });
    fetches.add(messages);
    try {
      if (stopped.signal.aborted) return undefined;
      for await (const message of messages) return message;
      return undefined;
    } finally {
      fetches.delete(messages);
      messages.stop();
    }
  }

  async function handle(received: JsMsg, session: NatsSession): Promise<void> {
    const attempt = received.info.deliveryCount;
    const message = fromNats(received, attempt);
    // Outcomes count only in the session that delivered the message; otherwise the server delivers it again.
    const report = (outcome: () => void): void => {
      if (!session.nc.isClosed()) outcome();
    };
    const bury = (): void => {
      report(() => received.term());
      try {
        onDead?.(message);
      } catch (error) {
        complain(error, message);
      }
    };
    // True only if the last allowed delivery had no outcome.
    if (attempt > maxDeliver) return bury();
    const started = performance.now();
    try {
      await handler(message);
      report(() => received.ack());
    } catch (error) {
      complain(error, message);
      // The server has delivered the message to another worker by now.
      if (performance.now() - started >= ackWaitMs) return;
      if (attempt >= maxDeliver) bury();
      else report(() => received.nak(retryDelayMs(attempt)));
    }
  }

  function complain(error: unknown, { subject, id, attempt }: BusMessage): void {
    log.warn("bus worker failed", { error, subject, message_id: id, attempt });
  }

  // Seats outlive sessions, so that a handler that outlives its session still occupies one.
  const seats = Array.from({ length: concurrency }, runSeat);

  function signalSeats(): void {
    attached.resolve();
    attached = Promise.withResolvers<void>();
  }

  return {
    attach(session) {
      current = session;
      signalSeats();
    },
    async close() {
      stopped.abort();
      signalSeats();
      for (const messages of fetches) messages.stop();
      await Promise.allSettled(seats);
    },
  };
}

/** Returns the durable consumer. Creates it if it is missing, and updates it if its settings differ. */
async function ensureConsumer(
  session: NatsSession,
  pattern: string,
  durable: string,
  ackWaitMs: number,
): Promise<Consumer> {
  const { js, jsm, stream } = session;
  const settings = {
    filter_subject: pattern,
    ack_wait: nanos(ackWaitMs),
    // No limit at the server, which would drop the message silently; this worker reports the last delivery.
    max_deliver: -1,
  };
  const config: ConsumerConfig = {
    ...settings,
    durable_name: durable,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
  } as ConsumerConfig;
  await ensureStream(session);
  const known = await jsm.consumers.info(stream, durable).catch((error: Error) => {
    if (error.name === "ConsumerNotFoundError") return undefined;
    throw error;
  });
  const differs =
    known?.config.filter_subject !== settings.filter_subject || known.config.ack_wait !== settings.ack_wait;
  const info =
    known === undefined
      ? await jsm.consumers.add(stream, config)
      : differs
        ? await jsm.consumers.update(stream, durable, settings)
        : known;
  return js.consumers.getConsumerFromInfo(info);
}
