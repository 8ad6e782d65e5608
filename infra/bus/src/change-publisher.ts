import { create, toBinary } from "@bufbuild/protobuf";
import type { Bus } from "./bus.ts";
import { ChangesSchema, ChangeSchema, type ChangeKind } from "@tidemark/proto/changes/v1/changes";

/** Where changes are announced. */
export const CHANGES_SUBJECT = "announced.changes.noted.v1";

/** Announces the changes that a process has committed, merged and soon, to all gateways. */
export type ChangePublisher = {
  /** Notes a change that was committed. Costs about as much as a map look-up, and never throws. */
  readonly note: (change: NotedChange) => void;
  /** Announces the rest, and that nothing will follow. */
  readonly stop: () => void;
};

/** Milliseconds between two messages while changes arrive: at most 20 messages a second, under any load. */
const FLUSH_MS = 50;
/** Milliseconds without changes after which a message reports that the publisher is alive. */
const ALIVE_MS = 1000;
/** Changes of one message, some 200 bytes each with keys of usual length; further ones are sent in the next one. */
const CHANGES_PER_MESSAGE = 500;
/** About how many characters of keys one message has. */
const KEY_CHARACTERS_PER_MESSAGE = 100_000;
/** Changes that wait while the bus is not connected. Beyond, a message is left out, which receivers notice. */
const WAITING_MAX = 50_000;

/**
 * Starts a publisher. Each message names the one before it, so that a gateway knows when it has missed one; a publisher that falls silent without
 * saying that it ends has died, and its last changes with it. `steadyMs` never goes back; `id` is new for each start.
 */
export function startChangePublisher(options: {
  readonly bus: Pick<Bus, "announce">;
  /** Twelve hexadecimal digits. */
  readonly id: string;
  readonly steadyMs: () => number;
}): ChangePublisher {
  const { bus, id, steadyMs } = options;
  const startedMs = steadyMs();
  let waiting = new Map<string, NotedChange>();
  let tick = 0;
  let sentMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let missed = false;

  const send = (changes: readonly NotedChange[], ended: boolean): boolean => {
    const now = Math.max(Math.floor(steadyMs() - startedMs), tick + 1);
    // A message that names one which no receiver has seen makes receivers notice the gap.
    const before = missed ? now - 0.5 : tick;
    const message = create(ChangesSchema, { publisher: id, before, tick: now, ended });
    message.changes = changes.map((change) => create(ChangeSchema, { ...change, keys: [...(change.keys ?? [])] }));
    if (!bus.announce(CHANGES_SUBJECT, toBinary(ChangesSchema, message))) return false;
    missed = false;
    tick = now;
    sentMs = steadyMs();
    return true;
  };

  const flush = (ended = false): void => {
    clearTimeout(timer);
    timer = undefined;
    const taken = takeSome(waiting);
    if (!send([...taken.values()], ended && taken.size === waiting.size)) {
      timer = ended ? undefined : setTimeout(flush, ALIVE_MS).unref();
      return;
    }
    if (taken.size === waiting.size) waiting = new Map();
    else {
      for (const key of taken.keys()) waiting.delete(key);
      if (ended) flush(true);
      else timer = setTimeout(flush, 1).unref();
    }
  };

  // The first message names none before it, so that receivers see the publisher from its beginning.
  flush();
  const alive = setInterval(() => {
    if (timer === undefined && steadyMs() - sentMs >= ALIVE_MS / 2) flush();
  }, ALIVE_MS).unref();

  return {
    note(change) {
      const key = `${change.kind}${change.runId === "" ? change.projectId : change.runId}`;
      const before = waiting.get(key);
      if (before === undefined) {
        if (waiting.size >= WAITING_MAX) {
          missed = true;
          return;
        }
        waiting.set(key, withinBounds(change));
      } else waiting.set(key, mergeChange(before, withinBounds(change)));
      timer ??= setTimeout(flush, Math.max(0, sentMs + FLUSH_MS - steadyMs())).unref();
    },
    stop() {
      clearInterval(alive);
      flush(true);
    },
  };
}

function withinBounds(change: NotedChange): NotedChange {
  return (change.keys?.length ?? 0) > CHANGED_KEYS_MAX ? { ...change, keys: undefined } : change;
}

/** Returns as many of the changes as fit into a message, at least one. */
function takeSome(waiting: Map<string, NotedChange>): Map<string, NotedChange> {
  let characters = 0;
  const taken = new Map<string, NotedChange>();
  for (const [key, change] of waiting) {
    for (const name of change.keys ?? []) characters += name.length;
    if (taken.size > 0 && (taken.size >= CHANGES_PER_MESSAGE || characters > KEY_CHARACTERS_PER_MESSAGE)) break;
    taken.set(key, change);
  }
  return taken;
}

/** The change of a write. Keys are left out where they are more than `CHANGED_KEYS_MAX`, or the kind has none. */
export type NotedChange = {
  readonly orgId: string;
  readonly projectId: string;
  /** Empty for a change of the project itself. */
  readonly runId: string;
  readonly kind: ChangeKind;
  readonly keys?: readonly string[] | undefined;
  readonly step?: number | undefined;
  readonly line?: number | undefined;
};

/** Most keys that a change names; a change of more names none, which means any. */
export const CHANGED_KEYS_MAX = 100;

/** Returns one change that covers both, of the same run and kind: all keys, the highest step, the highest line. */
export function mergeChange(before: NotedChange, now: NotedChange): NotedChange {
  const keys = mergeKeys(before.keys, now.keys);
  const step = highest(before.step, now.step);
  const line = highest(before.line, now.line);
  if (keys === before.keys && step === before.step && line === before.line) return before;
  return { ...now, keys, step, line };
}

function highest(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.max(a, b);
}

/** Most writes of a run have the same keys as the one before, so this case must be free. */
function mergeKeys(
  before: readonly string[] | undefined,
  now: readonly string[] | undefined,
): readonly string[] | undefined {
  if (before === undefined || now === undefined) return undefined;
  if (now.every((key, i) => key === before[i])) return before;
  const all = new Set(before);
  for (const key of now) all.add(key);
  if (all.size === before.length) return before;
  return all.size > CHANGED_KEYS_MAX ? undefined : [...all];
}
