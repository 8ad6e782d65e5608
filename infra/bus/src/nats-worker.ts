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
import type { BusMessage, WorkOptions } from "./bus.ts";
import { busLimits, retryDelayMs } from "./limits.ts";
import { fromNats } from "./nats-message.ts";
import { ensureStream, type NatsSession } from "./nats-session.ts";

/** One `work` subscription, over all the sessions of its life. */
export type NatsWorker = {
  /** Starts to fetch in a session; ends by itself with the session. */
  attach(session: NatsSession): void;
  /** Fetches no more, and resolves when the handlers at work have ended. */
  close(): Promise<void>;
};

/** How long one request for a message waits at the server, in milliseconds. */
const fetchMs = 30_000;

/**
 * Makes a worker of a durable consumer. Every seat asks for one message at a time: the wait for an outcome starts
 * when the handler does.
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
        // The consumer or its stream may be gone; both are made again.
        log.warn("bus worker cannot fetch", { error });
        consumer = undefined;
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
    // Outcomes count only in the session that delivered; the server delivers again otherwise.
    const settle = (outcome: () => void): void => {
      if (!session.nc.isClosed()) outcome();
    };
    const bury = (): void => {
      settle(() => received.term());
      try {
        onDead?.(message);
      } catch (error) {
        complain(error, message);
      }
    };
    // Only reached when the last allowed delivery had no outcome at all.
    if (attempt > maxDeliver) return bury();
    const started = performance.now();
    try {
      await handler(message);
      settle(() => received.ack());
    } catch (error) {
      complain(error, message);
      // The server has given the message to somebody else by now.
      if (performance.now() - started >= ackWaitMs) return;
      if (attempt >= maxDeliver) bury();
      else settle(() => received.nak(retryDelayMs(attempt)));
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

/** The durable consumer, made if missing and brought to the given settings if it has others. */
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
    // Without a bound at the server: it would drop the message in silence, while here the last delivery is told.
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
