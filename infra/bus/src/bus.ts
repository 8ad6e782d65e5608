/** One message as a listener or a worker receives it. Receivers share `data`, so they must not write to it. */
export type BusMessage = {
  readonly subject: string;
  /** The publisher's id of the message; the same on every delivery. */
  readonly id: string;
  readonly data: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** 1 on the first delivery to a work queue and one more on each later one; always 1 for a listener. */
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
  /** Milliseconds without an outcome after which another worker gets the message; default 30,000. */
  readonly ackWaitMs?: number;
  /** Number of deliveries after which a message is given up; default unlimited. */
  readonly maxDeliver?: number;
  /** How many messages the handler processes simultaneously in this process; default 1. */
  readonly concurrency?: number;
  /** Called with a message that was given up; `attempt` is the last one, or the one after it. */
  readonly onDead?: (message: BusMessage) => void;
};

export type BusSubscription = {
  /** Takes no more messages. Resolves when running handlers have ended. */
  close(): Promise<void>;
};

/**
 * Events between modules. The bus wakes receivers up and stores nothing reliably: a publisher keeps the event in
 * PostgreSQL until its effect is committed, and every handler is idempotent, because a message may arrive more than
 * once or, if the bus lost its state, never.
 *
 * Subjects are words separated by dots, `tidemark.<service>.<event>.v<n>`; a pattern may have `*` for one word
 * and end in `>` for one or more. Those of announcements begin with `announced` instead of `tidemark`.
 */
export type Bus = {
  /**
   * Resolves when the bus has taken the message, after 2 seconds at most. The bus takes one message per id within 120
   * seconds. Throws `service_unavailable` if the bus is not reachable; the bus may have taken the message nevertheless,
   * so publish it again with the same id. Throws `TypeError` for a subject, id, header or size (512 KiB) that is out of
   * bounds.
   */
  publish(subject: string, data: Uint8Array, options: PublishOptions): Promise<void>;
  /**
   * Passes a message to the current listeners, and does not store it: it has no id and no headers, and the publisher waits for no
   * answer. Returns false, and does nothing, if the bus is not connected; true does not mean that it arrived. Messages of
   * one bus arrive in their order. Throws `TypeError` for a subject or size (512 KiB) that is out of bounds.
   */
  announce(subject: string, data: Uint8Array): boolean;
  /**
   * Passes each message that is published or announced after this resolved to `onMessage`, in this and in every other process that
   * listens. The bus keeps nothing for a listener, so messages that were published while it was not reachable are lost;
   * `onReconnect` is called when it is reachable again, to catch up from PostgreSQL. Also resolves while the bus is not
   * reachable. Neither function may throw; what they throw is logged.
   */
  listen(subject: string, onMessage: (message: BusMessage) => void, onReconnect?: () => void): Promise<BusSubscription>;
  /**
   * Work queue: of all workers with the same `durable`, in all processes, one gets the message. It is delivered
   * again, with `attempt` one higher, if the handler throws (after 100 ms, doubling up to 30 s) or does not end within
   * `ackWaitMs`, until a handler resolves or `maxDeliver` is reached. Messages that were published before the first
   * worker existed are delivered too. All workers of one `durable` use the same subject and `ackWaitMs`. Also resolves
   * while the bus is not reachable.
   */
  work(
    subject: string,
    durable: string,
    handler: (message: BusMessage) => Promise<void>,
    options?: WorkOptions,
  ): Promise<BusSubscription>;
  /** Whether the bus would probably take a message now. */
  connected(): boolean;
  /**
   * Closes every subscription, waits for running handlers, and closes the connection. Publishing afterwards throws
   * `service_unavailable`.
   */
  close(): Promise<void>;
};

/** Limits of both drivers. Times in milliseconds. */
export const busLimits = {
  /** How long an id is remembered, so that publishing again is harmless. */
  dedupWindowMs: 120_000,
  /** How long an unfinished message is kept. */
  keepMs: 7 * 24 * 3_600_000,
  publishTimeoutMs: 2_000,
  dataBytesMax: 512 * 1024,
  ackWaitMsDefault: 30_000,
} as const;

/** How long a message waits after its handler threw on the given attempt: 100 ms, doubling, at most 30 s. */
export function retryDelayMs(attempt: number): number {
  return Math.min(100 * 2 ** Math.min(attempt - 1, 20), 30_000);
}

const word = "[a-z0-9_-]+";
const subjectShape = new RegExp(`^tidemark(\\.${word})+$`);
/** The stream, which keeps published messages, does not take these. */
const announcedShape = new RegExp(`^announced(\\.${word})+$`);
const patternShape = new RegExp(`^(tidemark|announced)(\\.(${word}|\\*))*(\\.>)?$`);
const headerValueShape = /^[\x20-\x7e]*$/;

/**
 * Refuses messages that one of the drivers cannot carry, so that code that works in one process also works in many.
 * Throws `TypeError`.
 */
export function checkMessage(subject: string, data: Uint8Array, { id, headers = {} }: PublishOptions): void {
  if (subject.length > 200 || !subjectShape.test(subject)) throw new TypeError(`"${subject}" is not a subject`);
  if (!/^[\x21-\x7e]{1,255}$/.test(id)) throw new TypeError("a message id has 1 to 255 visible ASCII characters");
  checkSize(data);
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[A-Za-z][A-Za-z0-9-]{0,99}$/.test(name) || /^nats-/i.test(name))
      throw new TypeError(`"${name}" is not a header name`);
    if (value.length > 4096 || !headerValueShape.test(value))
      throw new TypeError(`the header ${name} has an odd value`);
  }
}

/** The same for an announcement. Throws `TypeError`. */
export function checkAnnouncement(subject: string, data: Uint8Array): void {
  if (subject.length > 200 || !announcedShape.test(subject))
    throw new TypeError(`"${subject}" is not a subject of announcements`);
  checkSize(data);
}

function checkSize(data: Uint8Array): void {
  if (data.byteLength > busLimits.dataBytesMax)
    throw new TypeError(`a message has at most ${busLimits.dataBytesMax} bytes, not ${data.byteLength}`);
}

/** Refuses a subject or pattern that nothing could match. Throws `TypeError`. */
export function checkPattern(pattern: string): void {
  if (pattern.length > 200 || !patternShape.test(pattern)) throw new TypeError(`"${pattern}" is not a subject`);
}

/** Refuses a text that cannot be the name of a durable consumer. Throws `TypeError`. */
export function checkDurable(durable: string): void {
  if (!/^[a-z0-9_-]{1,64}$/.test(durable)) throw new TypeError(`"${durable}" is not a name of a work queue`);
}

/** Whether a pattern (`*` for one word, `>` at the end for one or more) matches a subject. */
export function subjectMatches(pattern: string, subject: string): boolean {
  const wanted = pattern.split(".");
  const words = subject.split(".");
  for (const [i, want] of wanted.entries()) {
    if (want === ">") return words.length > i;
    if (i >= words.length || (want !== "*" && want !== words[i])) return false;
  }
  return wanted.length === words.length;
}
