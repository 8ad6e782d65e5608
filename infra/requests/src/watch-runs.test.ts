import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import { createLog } from "@tidemark/telemetry";
import { until } from "@tidemark/testkit";
import { createRunDirectory, watchRuns, type Caller, type RunDirectory } from "./index.ts";

const orgId = "0c8ffd3a-0000-4000-8000-000000000001";
const projectId = "0c8ffd3a-0000-4000-8000-000000000002";
const caller: Caller = {
  kind: CallerKind.API_KEY,
  orgId,
  projectId: undefined,
  planTier: "pro",
  billingState: "",
  scopes: [],
};
/** The rows of `runs.visibility_changes_v1`. */
const rowsOf = (snapshot: string, runIds: readonly string[] = []) => [
  { snapshot, projectId: null, runId: null },
  ...runIds.map((runId) => ({ snapshot: null, projectId, runId })),
];
const log = createLog({ level: "silent", service: "requests-test" });

let directory: RunDirectory;
let watch: ReturnType<typeof watchRuns> | undefined;
beforeEach(async () => {
  directory = createRunDirectory((_org, ids) => Promise.resolve(ids.map((id) => ({ id, projectId }))), 100);
});
afterEach(() => watch?.stop());

const known = (...ids: string[]) => ids.filter((id) => directory.knows(caller, id));

describe("a process that watches deletions", () => {
  test("forgets what changed since its last read, and nothing else", async () => {
    const asked: (string | undefined)[] = [];
    watch = watchRuns({
      read: (since) => {
        asked.push(since);
        const number = asked.length;
        return Promise.resolve(rowsOf(`${number}:${number}:`, number === 2 ? ["a"] : []));
      },
      log,
      nowMs: () => performance.now(),
    });
    await until("the first read", () => Promise.resolve(asked.length === 1));
    await directory.require(caller, ["a", "b"]);
    expect(known("a", "b")).toEqual(["a", "b"]);
    await until("the second read", () => Promise.resolve(asked.length >= 2 && known("a").length === 0));
    expect(known("a", "b")).toEqual(["b"]);
    expect(asked.slice(0, 2)).toEqual([undefined, "1:1:"]);
  });

  test.each([
    ["the database was restored", (number: number) => `${10 - number}:${10 - number}:`, 0],
    ["it was away for a day", (number: number) => `${number}:${number}:`, 86_400_000],
  ])("forgets everything when %s", async (_what, snapshot, aheadMs) => {
    let reads = 0;
    watch = watchRuns({
      read: () => {
        reads += 1;
        return Promise.resolve(rowsOf(snapshot(reads)));
      },
      log,
      nowMs: () => performance.now() + reads * aheadMs,
    });
    await until("the first read", () => Promise.resolve(reads === 1));
    await directory.require(caller, ["a"]);
    await until("it to forget", () => Promise.resolve(known("a").length === 0));
    expect(reads).toBeGreaterThanOrEqual(2);
  });

  test("forgets everything while it cannot read for longer than eight seconds", async () => {
    let reads = 0;
    watch = watchRuns({
      read: () => {
        reads += 1;
        if (reads > 1) return Promise.reject(new Error("the database is away"));
        return Promise.resolve(rowsOf("1:1:"));
      },
      log,
      nowMs: () => performance.now() + (reads > 2 ? 10_000 : 0),
    });
    await until("the first read", () => Promise.resolve(reads === 1));
    await directory.require(caller, ["a"]);
    await until("a failed read", () => Promise.resolve(reads === 2));
    expect(known("a")).toEqual(["a"]);
    await until("it to forget", () => Promise.resolve(known("a").length === 0));
  });
});
