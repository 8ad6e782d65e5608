import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test } from "@jest/globals";
import { CredentialKind, GetProjectionResponseSchema } from "@tidemark/proto/control/v1/control";
import { createLog } from "@tidemark/telemetry";
import { createCredentialUses } from "./credential-use.ts";
import { createDirectory } from "./directory.ts";
import { createProjection, type Projection } from "./projection.ts";

type Page = MessageInitShape<typeof GetProjectionResponseSchema>;

const log = createLog({ level: "silent", service: "test" });
const running: Projection[] = [];
afterEach(() => {
  for (const projection of running.splice(0)) projection.stop();
});

function setUp(answer: (cursor: string, call: number) => Page | Promise<Page>) {
  const directory = createDirectory();
  const clock = { ms: 0 };
  const cursors: string[] = [];
  const projection = createProjection({
    directory,
    fetchPage: async (cursor) => {
      cursors.push(cursor);
      return create(GetProjectionResponseSchema, await answer(cursor, cursors.length));
    },
    nowMs: () => clock.ms,
    log,
  });
  running.push(projection);
  const knows = (id: string): boolean => directory.find(CredentialKind.API_KEY, id) !== undefined;
  return { projection, clock, cursors, knows };
}

const org = { id: "org-1", planTier: "free" };
const key = (id: string) => ({ kind: CredentialKind.API_KEY, id, orgId: "org-1" });

test("all pages of a snapshot are read before it counts as loaded, then only changes", async () => {
  const pages: Record<string, Page> = {
    "": { organizations: [org], credentials: [key("a")], cursor: "1", more: true, fromStart: true },
    "1": { credentials: [key("b")], cursor: "2", more: false },
    "2": { credentials: [key("c")], cursor: "3", more: false },
  };
  const { projection, cursors, knows } = setUp((cursor) => pages[cursor] ?? {});
  expect([projection.loaded(), projection.fresh()]).toEqual([false, false]);
  await projection.refresh();
  expect(cursors).toEqual(["", "1"]);
  expect([projection.loaded(), projection.degraded(), projection.fresh()]).toEqual([true, false, true]);
  expect([knows("a"), knows("b"), knows("c")]).toEqual([true, true, false]);
  await projection.refresh();
  expect(knows("c")).toBe(true);
});

test("a snapshot that breaks off continues where it was, and drops nothing before it is complete", async () => {
  const { projection, cursors, knows } = setUp((_, call) => {
    if (call === 1) return { organizations: [org], credentials: [key("old")], cursor: "1", fromStart: true };
    if (call === 2) return { organizations: [org], credentials: [key("a")], cursor: "2", more: true, fromStart: true };
    if (call === 3) throw new Error("gone");
    return { credentials: [key("b")], cursor: "3" };
  });
  await projection.refresh();
  await projection.refresh();
  expect([projection.loaded(), projection.degraded(), knows("old"), knows("a")]).toEqual([true, true, true, true]);
  await projection.refresh();
  expect(cursors).toEqual(["", "1", "2", "2"]);
  expect([projection.degraded(), knows("old"), knows("a"), knows("b")]).toEqual([false, false, true, true]);
});

test("a failed first load is not loaded but degraded", async () => {
  const { projection } = setUp(() => Promise.reject(new Error("refused")));
  await projection.refresh();
  expect([projection.loaded(), projection.degraded(), projection.fresh()]).toEqual([false, true, false]);
});

test("loaded entries are trusted for a minute after the beginning of the last success", async () => {
  const { projection, clock } = setUp((_, call) => {
    if (call > 1) throw new Error("gone");
    return { cursor: "1" };
  });
  await projection.refresh();
  clock.ms = 60_000;
  await projection.refresh();
  expect([projection.fresh(), projection.degraded()]).toEqual([true, true]);
  clock.ms = 60_001;
  expect([projection.fresh(), projection.loaded()]).toEqual([false, true]);
});

describe("the use of credentials", () => {
  const entry = (id: string) => ({ ...key(id), kind: CredentialKind.API_KEY }) as never;

  test("the latest use of each is reported, at most 1,000 in one call", async () => {
    const reports: { id: string; usedAt: string }[][] = [];
    let now = Date.parse("2026-01-02T03:04:05Z");
    const uses = createCredentialUses({
      report: (part) => Promise.resolve(void reports.push([...part])),
      nowMs: () => now,
      log,
    });
    uses.note(entry("a"));
    now += 1000;
    uses.note(entry("a"));
    for (let i = 0; i < 1500; i += 1) uses.note(entry(`k${i}`));
    await uses.stop();
    expect(reports.map((part) => part.length)).toEqual([1000, 501]);
    expect(reports[0]?.[0]).toMatchObject({ id: "a", orgId: "org-1", usedAt: "2026-01-02T03:04:06.000Z" });
  });

  test("a report that failed is repeated", async () => {
    const reports: string[][] = [];
    let failing = true;
    const uses = createCredentialUses({
      report: (part) => {
        if (failing) return Promise.reject(new Error("refused"));
        reports.push(part.map(({ id }) => id));
        return Promise.resolve();
      },
      nowMs: () => 0,
      log,
    });
    uses.note(entry("a"));
    await uses.stop();
    failing = false;
    await uses.stop();
    expect(reports).toEqual([["a"]]);
  });
});
