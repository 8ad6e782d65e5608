import { describe, expect, jest, test } from "@jest/globals";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import { createRunDirectory, forgetAllRuns, forgetRuns, type Caller, type FindRuns } from "./index.ts";

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
