import type { Changes } from "@tidemark/proto/changes/v1/changes";

/** What this gateway has received from each publisher. Times are from a clock that never goes back, in milliseconds. */
export type Publishers = {
  /**
   * Takes note of a message: `next` when nothing is missing before it, `gap` when something may be, `old` when it was received before. From then on
   * `position` is after it.
   */
  readonly take: (message: Changes, nowMs: number) => "next" | "gap" | "old";
  /** The end of what was received. Each message makes a new one. */
  readonly position: () => Position;
  /** The lowest number of a publisher after which all its changes are remembered; undefined for an unknown publisher. */
  readonly floorOf: (publisher: string) => number | undefined;
  /** Notes that a change is no longer remembered. */
  readonly forgot: (publisher: string, number: number) => void;
  /** Forgets publishers that fell silent, and reports whether there were any: their last changes may never have left. Those that ended are kept for a while. */
  readonly dropSilent: (nowMs: number) => boolean;
  /** Restarts counting silence, because nothing could be received. */
  readonly forgive: (nowMs: number) => void;
};

/** A publisher sends something each second, unless its process or this one is starved; a false alarm makes all clients read again. */
export const SILENT_MS = 8000;
/** How long publishers that ended are named in positions, so that these can be compared. */
const ENDED_MS = 5 * 60_000;
/** A gateway that has just begun to listen does not know the existing publishers. */
const LEARNING_MS = 3000;

type Known = { number: number; floor: number; heardMs: number; ended: boolean };

/** Creates the register, at the moment when messages begin to arrive. */
export function createPublishers(sinceMs: number): Publishers {
  const publishers = new Map<string, Known>();
  let position: Position = new Map();

  const changed = (): void => {
    position = new Map([...publishers].map(([id, { number }]) => [id, number]));
  };

  return {
    take({ publisher, before, tick, ended }, nowMs) {
      const known = publishers.get(publisher);
      const start = endOf(before);
      if (known !== undefined && endOf(tick) <= known.number) return "old";
      const isNext = known === undefined ? before === 0 || nowMs - sinceMs < LEARNING_MS : known.number === start;
      const floor = known !== undefined && isNext ? known.floor : start;
      publishers.set(publisher, { number: endOf(tick), floor, heardMs: nowMs, ended });
      changed();
      return isNext ? "next" : "gap";
    },
    position: () => position,
    floorOf: (publisher) => publishers.get(publisher)?.floor,
    forgot(publisher, number) {
      const known = publishers.get(publisher);
      if (known !== undefined) known.floor = Math.max(known.floor, number);
    },
    dropSilent(nowMs) {
      let died = false;
      for (const [id, { heardMs, ended }] of publishers) {
        if (nowMs - heardMs < (ended ? ENDED_MS : SILENT_MS)) continue;
        publishers.delete(id);
        changed();
        died ||= !ended;
      }
      return died;
    },
    forgive(nowMs) {
      for (const known of publishers.values()) if (!known.ended) known.heardMs = nowMs;
    },
  };
}

/** How far a reader knows the announcements of each publisher: the number of the last change, by publisher. */
export type Position = ReadonlyMap<string, number>;

/** Changes of one project in one message have the numbers from this times its tick on, so that the last one is below the next tick's. */
const NUMBERS_PER_TICK = 1024;

/** Returns the number of a change, the `index`th of its project in the message of a tick. */
export function numberOf(tick: number, index: number): number {
  return tick * NUMBERS_PER_TICK + Math.min(index, NUMBERS_PER_TICK - 2);
}

/** Returns the number of a reader that knows everything up to and including a tick; 0 before the first one. */
export function endOf(tick: number): number {
  return tick === 0 ? 0 : tick * NUMBERS_PER_TICK + NUMBERS_PER_TICK - 1;
}

const NO_PUBLISHER = "0";
/** Most characters of an id; a position of a hundred publishers is shorter. */
const CHARACTERS_MAX = 4096;
const PUBLISHER = /^[0-9a-f]{12}$/;
const NUMBER = /^[0-9a-z]{1,11}$/;

/** Writes a position as the id of an event. Every gateway can read it. */
export function writePosition(position: Position): string {
  if (position.size === 0) return NO_PUBLISHER;
  let text = "";
  for (const [publisher, number] of position) text += `${text === "" ? "" : "."}${publisher}-${number.toString(36)}`;
  return text;
}

/** Reads the id of an event; undefined for a text that is not one. */
export function readPosition(text: string): Position | undefined {
  if (text === NO_PUBLISHER) return new Map();
  if (text.length > CHARACTERS_MAX) return undefined;
  const position = new Map<string, number>();
  for (const part of text.split(".")) {
    const publisher = part.slice(0, 12);
    const digits = part.slice(13);
    const number = Number.parseInt(digits, 36);
    if (part[12] !== "-" || !PUBLISHER.test(publisher) || !NUMBER.test(digits) || !Number.isSafeInteger(number))
      return undefined;
    position.set(publisher, number);
  }
  return position;
}
