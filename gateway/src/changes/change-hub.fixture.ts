import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ChangeKind, ChangeSchema, ChangesSchema, type Changes } from "@tidemark/proto/changes/v1/changes";
import { createChangeHub, projectKey, type ChangeHub } from "./change-hub.ts";
import { createPublishers, type Publishers } from "./publishers.rules.ts";
import { createRecentChanges, type RecentChanges } from "./recent-changes.rules.ts";

/** A hub whose time stands still unless a test moves it. */
export type TestHub = {
  readonly hub: ChangeHub;
  readonly publishers: Publishers;
  readonly recent: RecentChanges;
  /** Moves the clock forward, and does what becomes due on the way. */
  readonly pass: (ms: number) => void;
  /** The events that a new subscriber of the test project gets, as text; `leave` removes it. */
  readonly subscribe: (
    lastEventId?: string,
    project?: string,
  ) => { got: string[]; ended: () => boolean; leave: () => void };
};

export const ORG = "0a1b2c3d-0000-4000-8000-000000000001";
export const PROJECT = "0a1b2c3d-0000-4000-8000-00000000000a";
export const PUBLISHERS = ["aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"] as const;

/** Creates a hub. `atMs` is its first moment; publishers that it sees within three seconds are not new. */
export function createTestHub(atMs = 10_000): TestHub {
  let nowMs = 0;
  const due: { ms: number; act: () => void }[] = [];
  const publishers = createPublishers(0);
  const recent = createRecentChanges(publishers.forgot);
  const hub = createChangeHub({
    publishers,
    recent,
    nowMs: () => nowMs,
    schedule: (ms, act) => {
      const entry = { ms: nowMs + ms, act };
      due.push(entry);
      return () => void (due.includes(entry) && due.splice(due.indexOf(entry), 1));
    },
  });
  nowMs = atMs;
  return {
    hub,
    publishers,
    recent,
    pass(ms) {
      const end = nowMs + ms;
      for (;;) {
        const next = due.filter((entry) => entry.ms <= end).toSorted((a, b) => a.ms - b.ms)[0];
        if (next === undefined) break;
        due.splice(due.indexOf(next), 1);
        nowMs = Math.max(nowMs, next.ms);
        next.act();
      }
      nowMs = end;
    },
    subscribe(lastEventId, project = PROJECT) {
      const got: string[] = [];
      let ended = false;
      const leave = hub.subscribe(projectKey(ORG, project), lastEventId, {
        send: (bytes) => void got.push(bytes.toString()),
        end: () => (ended = true),
      });
      return { got, ended: () => ended, leave };
    },
  };
}

/** Makes a message of a publisher with changes of runs of the test project, of points unless said otherwise. */
export function messageOf(
  publisher: string,
  before: number,
  tick: number,
  changes: readonly MessageInitShape<typeof ChangeSchema>[] = [],
  ended = false,
): Changes {
  return create(ChangesSchema, {
    publisher,
    before,
    tick,
    ended,
    changes: changes.map((change) =>
      create(ChangeSchema, { orgId: ORG, projectId: PROJECT, kind: ChangeKind.POINTS, ...(change as object) }),
    ),
  });
}
