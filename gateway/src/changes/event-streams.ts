import type { ServerResponse } from "node:http";
import { AppError } from "@tidemark/errors";
import type { Identity } from "@tidemark/proto/common/v1/common";
import { projectKey, type ChangeHub, type Subscriber } from "./change-hub.ts";

/** Streams that are being sent. */
export type EventStreams = {
  /**
   * Takes a place for a stream of a project that the caller may see.
   * @throws rate_limit_exceeded when the caller or the organization has too many, service_unavailable when the process has
   */
  readonly open: (stream: WantedStream) => OpenStream;
  /** Ends all of them, and each that begins later. */
  readonly endAll: () => void;
  /** The number of streams. */
  readonly count: () => number;
};

/** The caller, the project whose changes it wants, and the last event that it got. */
export type WantedStream = {
  readonly identity: Identity;
  readonly projectId: string;
  readonly lastEventId: string | undefined;
};

/** A stream with a place. One of the two is called, once. */
export type OpenStream = {
  /** Begins to send to an answer whose headers are sent. The place is free again when its connection has ended. */
  readonly start: (raw: ServerResponse) => void;
  readonly giveUp: () => void;
};

/** Streams of one caller, on each gateway (always, also without limits). */
export const CALLER_STREAMS_MAX = 100;
/** Share of all connections that streams may use, and share that the streams of one organization may use. */
const STREAMS_SHARE = 3 / 4;
const ORGANIZATION_SHARE = 1 / 4;
/** A comment is sent every 15 seconds. */
const SLOTS = 15;
const TICK_MS = 1000;
/** Bytes that wait for a client, in addition to those in its socket. Streams of one project share them. */
const WAITING_BYTES_MAX = 256 * 1024;

type Stream = Subscriber & {
  readonly raw: ServerResponse;
  readonly project: string;
  /** Data waited for the client at its last comment. */
  stalled: boolean;
};

/** Creates the streams of a gateway. */
export function createEventStreams(options: {
  readonly hub: ChangeHub;
  readonly connectionsMax: number;
}): EventStreams {
  const { hub, connectionsMax } = options;
  // One timer for all: each second has the streams of one slot.
  const slots = Array.from({ length: SLOTS }, () => new Set<Stream>());
  const ofCallers = createCounts();
  const ofOrganizations = createCounts();
  const organizationMax = Math.max(CALLER_STREAMS_MAX, Math.floor(connectionsMax * ORGANIZATION_SHARE));
  const streamsMax = Math.floor(connectionsMax * STREAMS_SHARE);
  let count = 0;
  let opened = 0;
  let ticks = 0;
  let ended = false;

  const tick = (): void => {
    ticks += 1;
    const comments = new Map<string, Buffer>();
    for (const stream of slots[ticks % SLOTS]!) {
      const waits = stream.raw.writableLength > 0;
      if (waits && stream.stalled) {
        stream.raw.destroy();
        continue;
      }
      stream.stalled = waits;
      let comment = comments.get(stream.project);
      if (comment === undefined) {
        comment = hub.comment(stream.project);
        comments.set(stream.project, comment);
      }
      stream.send(comment);
    }
  };
  const timer = setInterval(tick, TICK_MS);
  timer.unref();

  return {
    open({ identity, projectId, lastEventId }) {
      const { orgId } = identity;
      const caller = `${identity.kind}:${identity.credentialId}`;
      if (ofCallers.of(caller) >= CALLER_STREAMS_MAX) {
        throw tooMany(`a caller may have ${CALLER_STREAMS_MAX} streams of changes`);
      }
      if (ofOrganizations.of(orgId) >= organizationMax) {
        throw tooMany(`an organization may have ${organizationMax} streams of changes`);
      }
      if (count >= streamsMax) {
        throw new AppError("service_unavailable", "there are too many streams of changes; try again", {
          retryAfterSeconds: 5,
        });
      }
      count += 1;
      ofCallers.add(caller, 1);
      ofOrganizations.add(orgId, 1);
      const giveUp = (): void => {
        count -= 1;
        ofCallers.add(caller, -1);
        ofOrganizations.add(orgId, -1);
      };
      return {
        giveUp,
        start(raw) {
          if (raw.destroyed) {
            giveUp();
            return;
          }
          const project = projectKey(orgId, projectId);
          const stream: Stream = {
            raw,
            project,
            stalled: false,
            send: (bytes) => {
              if (raw.writableLength > WAITING_BYTES_MAX) raw.destroy();
              else raw.write(bytes);
            },
            end: () => raw.end(),
          };
          const slot = slots[opened++ % SLOTS]!;
          const leave = hub.subscribe(project, lastEventId, stream);
          slot.add(stream);
          raw.once("close", () => {
            slot.delete(stream);
            leave();
            giveUp();
          });
          if (ended) raw.end();
        },
      };
    },
    endAll() {
      ended = true;
      clearInterval(timer);
      for (const slot of slots) for (const stream of slot) stream.end();
    },
    count: () => count,
  };
}

function tooMany(text: string): AppError {
  return new AppError("rate_limit_exceeded", `${text}; close one of them`, { retryAfterSeconds: 5 });
}

function createCounts() {
  const counts = new Map<string, number>();
  return {
    of: (name: string): number => counts.get(name) ?? 0,
    add(name: string, by: number): void {
      const left = (counts.get(name) ?? 0) + by;
      if (left === 0) counts.delete(name);
      else counts.set(name, left);
    },
  };
}
