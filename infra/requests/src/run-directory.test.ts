import { describe, expect, jest, test, afterEach, beforeEach } from "@jest/globals";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import {
  createRunDirectory,
  forgetAllRuns,
  forgetRuns,
  type Caller,
  type FindRuns,
  watchRuns,
  type RunDirectory,
} from "./index.ts";
import { createLog } from "@tidemark/telemetry";
import { until } from "@tidemark/testkit";

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

/** A directory over runs that appear and disappear, and the ids that it asked for. */
function directoryOver(runs: Set<string>) {
  const find = jest.fn<FindRuns>((_org, ids) =>
    Promise.resolve(ids.filter((id) => runs.has(id)).map((id) => ({ id, projectId }))),
  );
  return { directory: createRunDirectory(find, 100), find };
}

describe("the directory of runs", () => {
  test("asks once for a run that exists, and every time for one that does not", async () => {
    const { directory, find } = directoryOver(new Set(["a"]));
    for (let i = 0; i < 3; i += 1) await directory.require(caller, ["a"]);
    expect(find).toHaveBeenCalledTimes(1);
    for (let i = 0; i < 2; i += 1) {
      await expect(directory.require(caller, ["b"])).rejects.toMatchObject({ reason: "not_found" });
    }
    expect(find).toHaveBeenCalledTimes(3);
  });

  test.each([
    ["the run", { projectId, runId: "a" }],
    ["its project", { projectId, runId: undefined }],
  ])("asks again when %s may have been deleted", async (_what, change) => {
    const runs = new Set(["a"]);
    const { directory } = directoryOver(runs);
    await directory.require(caller, ["a"]);
    runs.delete("a");
    expect(directory.knows(caller, "a")).toBe(true);
    forgetRuns(change);
    expect(directory.knows(caller, "a")).toBe(false);
    await expect(directory.projectOf(caller, "a")).rejects.toMatchObject({ reason: "not_found" });
  });

  test("keeps other runs and projects", async () => {
    const { directory } = directoryOver(new Set(["a", "b"]));
    await directory.require(caller, ["a", "b"]);
    forgetRuns({ projectId, runId: "b" });
    forgetRuns({ projectId: orgId, runId: undefined });
    expect([directory.knows(caller, "a"), directory.knows(caller, "b")]).toEqual([true, false]);
  });

  test("does not keep what a read or write found that began before the deletion", async () => {
    const runs = new Set(["a", "b"]);
    const { directory } = directoryOver(runs);
    const reading = directory.require(caller, ["a"]);
    forgetRuns({ projectId, runId: "a" });
    await reading;
    directory.learn("a", { orgId, projectId });
    expect(directory.knows(caller, "a")).toBe(false);
    directory.learn("b", { orgId, projectId });
    expect(directory.knows(caller, "b")).toBe(true);
    forgetRuns({ projectId, runId: undefined });
    directory.learn("b", { orgId, projectId });
    expect(directory.knows(caller, "b")).toBe(false);
  });

  test("can forget everything", async () => {
    const { directory } = directoryOver(new Set(["a"]));
    await directory.require(caller, ["a"]);
    forgetAllRuns();
    expect(directory.knows(caller, "a")).toBe(false);
  });
});

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
