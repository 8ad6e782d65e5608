/** One message as a listener or a worker gets it. `data` is shared between receivers: read it, do not write to it. */
export type BusMessage = {
  readonly subject: string;
  /** The id that the publisher gave it; the same on every delivery. */
  readonly id: string;
  readonly data: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** 1 on the first delivery to a work queue, one more on each further one; always 1 for a listener. */
  readonly attempt: number;
};

export type PublishOptions = {
  /** Identifies the event, 1 to 255 visible ASCII characters. */
  readonly id: string;
  /**
   * For instance `traceparent`. Names of letters, digits and hyphens, values of visible ASCII and blanks; `Nats-` is
   * reserved.
   */
  readonly headers?: Readonly<Record<string, string>>;
};

export type WorkOptions = {
  /** After how long without an outcome a message goes to another worker, in milliseconds; 30,000 when left out. */
  readonly ackWaitMs?: number;
  /** After how many deliveries a message is given up; without a bound when left out. */
  readonly maxDeliver?: number;
  /** How many messages the handler takes at once in this process; 1 when left out. */
  readonly concurrency?: number;
  /** Gets a message that was given up, with the attempt after which (or beyond which) it was. */
  readonly onDead?: (message: BusMessage) => void;
};

export type BusSubscription = {
  /** Takes no more messages, and resolves when handlers at work have ended. */
  close(): Promise<void>;
};

/**
 * Events between modules: a wake-up, never a store. Whoever publishes keeps the event in PostgreSQL until its effect
 * is committed, and every handler is idempotent, because a message may come more than once and, when the bus lost its
 * state, not at all.
 *
 * Subjects are words with dots between them, `tidemark.<service>.<event>.v<n>`; a pattern may have `*` for one word
 * and end in `>` for one or more.
 */
export type Bus = {
  /**
   * Resolves when the bus has taken the message, at the latest after 2 seconds. The same id within 120 seconds is
   * taken once. Throws `service_unavailable` when the bus is not reachable; the message may have been taken all the
   * same, so publish it again under its id. Throws `TypeError` for a subject, id, header or size (512 KiB) that is
   * out of bounds.
   */
  publish(subject: string, data: Uint8Array, options: PublishOptions): Promise<void>;
  /**
   * Hands each message that is published after this resolved to `onMessage`, in this and in every other process that
   * listens. Nothing is kept for a listener: what was published while the bus was out of reach is gone, so
   * `onReconnect` is called when it is back, for catching up from PostgreSQL. Also resolves while the bus is out of
   * reach. Neither function may throw; what they throw is logged.
   */
  listen(subject: string, onMessage: (message: BusMessage) => void, onReconnect?: () => void): Promise<BusSubscription>;
  /**
   * Work queue: of all workers with the same `durable`, in all processes, one gets the message. It is delivered
   * again, `attempt` one higher, when the handler throws (after 100 ms, doubling up to 30 s) or has no outcome within
   * `ackWaitMs`, until a handler resolves or `maxDeliver` is reached. Messages that were published before the first
   * worker came are delivered too. All workers of one `durable` give the same subject and `ackWaitMs`. Also resolves
   * while the bus is out of reach.
   */
  work(
    subject: string,
    durable: string,
    handler: (message: BusMessage) => Promise<void>,
    options?: WorkOptions,
  ): Promise<BusSubscription>;
  /** Whether a message published now would probably be taken. */
  connected(): boolean;
  /**
   * Closes every subscription, waits for handlers at work, and lets go of the connection. Publishing afterwards
   * throws `service_unavailable`.
   */
  close(): Promise<void>;
};
