import type { NotedChange } from "@tidemark/bus";
import { ChangeKind, type Change, type Changes } from "@tidemark/proto/changes/v1/changes";
import { commentText, eventText, resetText } from "./event-text.rules.ts";
import { numberOf, readPosition, writePosition, type Position, type Publishers } from "./publishers.rules.ts";
import { placeChange, type PlacedChange, type RecentChanges } from "./recent-changes.rules.ts";

/** A receiver of the events of a project, as bytes that all subscribers share. */
export type Subscriber = {
  readonly send: (bytes: Buffer) => void;
  /** Is called when the project was deleted. */
  readonly end: () => void;
};

/** Passes what publishers announce on to the subscribers of each project. */
export type ChangeHub = {
  /** Takes a message of a publisher. */
  readonly take: (message: Changes) => void;
  /** Notifies all subscribers to read everything again, because something may have been missed. */
  readonly resetAll: () => void;
  /**
   * Adds a subscriber, and sends it the events after the id of the last event that it got; `reset` where these are not known, and nothing where it
   * had none. Returns a function that removes it.
   */
  readonly subscribe: (project: string, lastEventId: string | undefined, subscriber: Subscriber) => () => void;
  /** Returns the comment that moves a subscriber of a project to its current position. */
  readonly comment: (project: string) => Buffer;
  /** Projects that have subscribers. */
  readonly projects: () => Iterable<string>;
};

/** Milliseconds between two events of one run and kind. */
const MERGE_MS = 200;
/** Most events of a project at a time. A client that shows more is faster to read a page again than all of them. */
export const EVENTS_MAX = 2000;
/** The same while there are more: an event that makes a client read a page is sent less often. */
const RESET_MS = 2000;
/** Subscribers that are sent to in one turn, some five milliseconds. */
const SUBSCRIBERS_PER_TURN = 500;

type Channel = {
  /** Undefined: the subscriber knows everything up to `known` of the channel. A position: it joined there, later. */
  readonly subscribers: Map<Subscriber, Position | undefined>;
  pending: Map<string, PlacedChange>;
  known: Position;
  restUntilMs: number;
  cancel: (() => void) | undefined;
};

/** Creates a hub. `schedule` calls a function later and returns a function that prevents it; `nowMs` never goes back. */
export function createChangeHub(options: {
  readonly publishers: Publishers;
  readonly recent: RecentChanges;
  readonly nowMs: () => number;
  readonly schedule: (ms: number, act: () => void) => () => void;
}): ChangeHub {
  const { publishers, recent, nowMs, schedule } = options;
  const channels = new Map<string, Channel>();
  const isKnown = (publisher: string): boolean => publishers.floorOf(publisher) !== undefined;

  const rest = (project: string, channel: Channel, ms: number): void => {
    channel.restUntilMs = nowMs() + ms;
    if (channel.pending.size > 0) flushLater(project, channel);
  };

  const flushLater = (project: string, channel: Channel): void => {
    channel.cancel ??= schedule(Math.max(0, channel.restUntilMs - nowMs()), () => {
      channel.cancel = undefined;
      flush(project, channel);
    });
  };

  const flush = (project: string, channel: Channel): void => {
    const pending = [...channel.pending.values()];
    channel.pending = new Map();
    const position = publishers.position();
    if (pending.length > EVENTS_MAX) {
      sendToAll(project, channel, Buffer.from(resetText(writePosition(position))), RESET_MS);
      return;
    }
    const late = [...channel.subscribers].filter(([, since]) => since !== undefined);
    const text = eventsText(pending, channel.known);
    channel.known = position;
    for (const [subscriber, since] of late) {
      const own = eventsText(
        pending.filter(({ places }) => isBehind(places, since!)),
        since!,
      );
      if (own !== "") subscriber.send(Buffer.from(own));
    }
    const joined = new Set(late.map(([subscriber]) => subscriber));
    sendToAll(project, channel, Buffer.from(text), MERGE_MS, joined);
  };

  /** Sends to the current subscribers in turns with other work, and lets the channel rest afterwards. */
  const sendToAll = (
    project: string,
    channel: Channel,
    bytes: Buffer,
    restMs: number,
    without: ReadonlySet<Subscriber> = new Set(),
  ): void => {
    channel.known = publishers.position();
    const subscribers = [...channel.subscribers.keys()];
    for (const subscriber of subscribers) channel.subscribers.set(subscriber, undefined);
    // Nothing else is sent before the last subscriber has this.
    channel.restUntilMs = Number.POSITIVE_INFINITY;
    const sendFrom = (start: number): void => {
      const end = Math.min(start + SUBSCRIBERS_PER_TURN, subscribers.length);
      for (let i = start; i < end; i++) {
        const subscriber = subscribers[i]!;
        if (bytes.length > 0 && channel.subscribers.has(subscriber) && !without.has(subscriber)) subscriber.send(bytes);
      }
      if (end < subscribers.length) schedule(0, () => sendFrom(end));
      else rest(project, channel, restMs);
    };
    sendFrom(0);
  };

  const resetAll = (): void => {
    const bytes = Buffer.from(resetText(writePosition(publishers.position())));
    for (const [project, channel] of channels) {
      channel.cancel?.();
      channel.cancel = undefined;
      channel.pending = new Map();
      sendToAll(project, channel, bytes, MERGE_MS);
    }
  };

  const add = (change: NotedChange, publisher: string, number: number): void => {
    const project = projectKey(change.orgId, change.projectId);
    const channel = channels.get(project);
    if (change.kind === ChangeKind.PROJECT_DELETED) {
      channel?.subscribers.forEach((_, subscriber) => subscriber.end());
      return;
    }
    recent.add(project, change, publisher, number, nowMs());
    if (channel === undefined) return;
    placeChange(channel.pending, change, publisher, number);
    if (channel.restUntilMs !== Number.POSITIVE_INFINITY) flushLater(project, channel);
  };

  return {
    take(message) {
      const outcome = publishers.take(message, nowMs());
      if (outcome === "old") return;
      if (outcome === "gap") resetAll();
      const counts = new Map<string, number>();
      for (const change of message.changes) {
        const index = counts.get(change.projectId) ?? 0;
        counts.set(change.projectId, index + 1);
        add(notedOf(change), message.publisher, numberOf(message.tick, index));
      }
    },
    resetAll,
    subscribe(project, lastEventId, subscriber) {
      let channel = channels.get(project);
      if (channel === undefined) {
        channel = {
          subscribers: new Map(),
          pending: new Map(),
          known: publishers.position(),
          restUntilMs: Number.NEGATIVE_INFINITY,
          cancel: undefined,
        };
        channels.set(project, channel);
      }
      const now = publishers.position();
      channel.subscribers.set(subscriber, now);
      const id = writePosition(now);
      if (lastEventId === undefined) subscriber.send(Buffer.from(commentText(id)));
      else {
        const from = readPosition(lastEventId);
        const events = from === undefined ? undefined : replay(project, from);
        const text = events === undefined ? resetText(id) : `${eventsText(events, from!)}${commentText(id)}`;
        subscriber.send(Buffer.from(text));
      }
      const own = channel;
      return () => {
        own.subscribers.delete(subscriber);
        if (own.subscribers.size > 0 || channels.get(project) !== own) return;
        own.cancel?.();
        channels.delete(project);
      };
    },
    comment(project) {
      const channel = channels.get(project);
      if (channel === undefined) return Buffer.from(commentText());
      // Not all subscribers have what is being sent, and none has what is pending.
      if (channel.restUntilMs === Number.POSITIVE_INFINITY) return Buffer.from(commentText());
      if (channel.pending.size === 0) channel.known = publishers.position();
      return Buffer.from(commentText(writePosition(channel.known)));
    },
    projects: () => channels.keys(),
  };

  /** Returns the changes of a project after a position; undefined when they are not remembered. */
  function replay(project: string, from: Position): PlacedChange[] | undefined {
    for (const publisher of from.keys()) if (!isKnown(publisher)) return undefined;
    for (const publisher of publishers.position().keys()) {
      if ((from.get(publisher) ?? 0) < publishers.floorOf(publisher)!) return undefined;
    }
    const events = recent.behind(project, from, isKnown);
    return events.length > EVENTS_MAX ? undefined : events;
  }
}

/** Names a project in the whole installation: a restored archive may have given the same id to a project of another organization. */
export function projectKey(orgId: string, projectId: string): string {
  return `${orgId}/${projectId}`;
}

/**
 * Writes events in the order of arrival. The id of each is the position after it: the position of the one before, moved on to where the change was
 * announced. So a client that got some of them can return for the others.
 */
function eventsText(events: readonly PlacedChange[], from: Position): string {
  const position = new Map(from);
  let text = "";
  for (const { change, places } of events) {
    for (const [publisher, number] of places) position.set(publisher, Math.max(number, position.get(publisher) ?? 0));
    text += eventText(change, writePosition(position));
  }
  return text;
}

function isBehind(places: Position, since: Position): boolean {
  for (const [publisher, number] of places) if (number > (since.get(publisher) ?? 0)) return true;
  return false;
}

function notedOf({ orgId, projectId, runId, kind, keys, step, line }: Change): NotedChange {
  return { orgId, projectId, runId, kind, keys: keys.length === 0 ? undefined : keys, step, line };
}
