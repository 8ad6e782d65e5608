import type { Changes } from "@tidemark/proto/changes/v1/changes";
import { endOf, type Position } from "./position.rules.ts";

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
