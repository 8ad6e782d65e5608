import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { isUuid } from "@tidemark/requests";
import { fingerprintOf, readDocument } from "@tidemark/documents";
import { callAs, failure, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { comparedFork, forkRunId, type ForkWish } from "./fork.rules.ts";
import { forksOf } from "./forks.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const { fork, childrenOf, expireKeys } = forksOf(() => fixture);

const org = "11111111-1111-4111-8111-111111111111";
const other = "22222222-2222-4222-8222-222222222222";

test("the id of a keyed fork follows from organization and key", () => {
  expect(forkRunId(org, "k")).toBe(forkRunId(org, "k"));
  const ids = [forkRunId(org, "k"), forkRunId(org, "l"), forkRunId(other, "k"), forkRunId(org, " k")];
  expect(new Set(ids).size).toBe(ids.length);
});

test("it is a UUID of version 8", () => {
  for (let i = 0; i < 100; i += 1) {
    const id = forkRunId(org, `key-${i}`);
    expect(isUuid(id)).toBe(true);
    expect(id).toMatch(/^.{14}8.{4}[89ab]/);
  }
});

const document = (text: string) => readDocument(Buffer.from(text), "config");
const run = "5b0c0000-0000-4000-8000-00000000000a";
const base: ForkWish = {
  name: "n",
  step: 1,
  checkpointArtifactId: undefined,
  inheritConfig: true,
  configOverrides: document('{"a":1,"b":{"c":2,"d":3}}'),
  tags: ["x", "y"],
  notes: undefined,
  metadata: {},
};
const hex = (wish: Partial<ForkWish>, of = run) =>
  Buffer.from(fingerprintOf(comparedFork(of, { ...base, ...wish }))).toString("hex");

describe("a fork request is the same one", () => {
  test.each<[string, Partial<ForkWish>]>([
    ["in another order of keys", { configOverrides: document('{"b":{"d":3,"c":2},"a":1}') }],
    ["with numbers in another notation", { configOverrides: document('{"a":1.0,"b":{"c":2e0,"d":30e-1}}') }],
  ])("%s", (_, wish) => expect(hex(wish)).toBe(hex({})));
});

describe("a fork request is another one", () => {
  test.each<[string, Partial<ForkWish>]>([
    ["with another name", { name: "m" }],
    ["without a name", { name: undefined }],
    ["at another step", { step: 1.5 }],
    ["without a step", { step: undefined }],
    ["with an artifact", { checkpointArtifactId: run }],
    ["without the parent's config", { inheritConfig: false }],
    ["with other overrides", { configOverrides: document('{"a":9007199254740993}') }],
    ["with overrides that differ in a digit beyond doubles", { configOverrides: document('{"a":9007199254740992}') }],
    ["with tags in another order", { tags: ["y", "x"] }],
    ["with notes", { notes: "n" }],
    ["with metadata", { metadata: document('{"a":1}') }],
  ])("%s", (_, wish) => expect(hex(wish)).not.toBe(hex({})));

  test("of another run", () => expect(hex({}, "5b0c0000-0000-4000-8000-00000000000b")).not.toBe(hex({})));

  test("and no two of these are one", () => {
    const one = hex({ configOverrides: document('{"a":9007199254740993}') });
    expect(one).not.toBe(hex({ configOverrides: document('{"a":9007199254740992}') }));
    expect(one).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("a repeat under one key", () => {
  const request = { step: 3, tags: ["t"], configOverridesJson: json('{"a":1,"b":2}'), idempotencyKey: "once" };

  test("is answered as the first time, even if the child has changed", async () => {
    const call = callAs();
    const parent = await makeRun(fixture.client, call);
    const first = await fork(call, { runId: parent.id, ...request });
    await fixture.client.updateRun({ runId: first.run.id, status: "failed", tags: { tags: [] } }, call);
    const again = await fork(call, { runId: parent.id, ...request, configOverridesJson: json('{"b":2.0,"a":1}') });
    expect(again).toEqual({ ...first, replayed: true });
    expect(await childrenOf(parent.id)).toBe(1);
  });

  test("finds the child as it is when the record of the key has expired", async () => {
    const call = callAs();
    const parent = await makeRun(fixture.client, call);
    const { run } = await fork(call, { runId: parent.id, ...request });
    await fixture.client.updateRun({ runId: run.id, status: "failed" }, call);
    await expireKeys();
    const late = await fork(call, { runId: parent.id, ...request });
    expect(late).toMatchObject({ replayed: true, run: { id: run.id, status: "failed", forkedFromStep: 3 } });
    const later = await fork(call, { runId: parent.id, ...request });
    expect(later).toEqual(late);
    expect(await childrenOf(parent.id)).toBe(1);
  });

  test.each(["fresh", "expired"])("with another body or run is a conflict, the record being %s", async (record) => {
    const call = callAs();
    const parent = await makeRun(fixture.client, call);
    const other = await makeRun(fixture.client, call);
    await fork(call, { runId: parent.id, ...request });
    for (const changed of [
      { runId: parent.id, ...request, step: 4 },
      { runId: parent.id, ...request, name: "x" },
      { runId: other.id, ...request },
    ]) {
      if (record === "expired") await expireKeys();
      expect(await failure(fork(call, changed))).toMatchObject({ reason: "idempotency_key_reused" });
    }
    expect(await childrenOf(other.id)).toBe(0);
    expect(await childrenOf(parent.id)).toBe(1);
  });

  test("is another fork in another organization", async () => {
    const [one, two] = [callAs(), callAs()];
    const ids = [];
    for (const call of [one, two]) {
      const parent = await makeRun(fixture.client, call);
      ids.push((await fork(call, { runId: parent.id, idempotencyKey: "same" })).run.id);
    }
    expect(new Set(ids).size).toBe(2);
  });

  test("at the same time 20 times makes one child", async () => {
    const call = callAs();
    const parent = await makeRun(fixture.client, call);
    const answers = await Promise.all(Array.from({ length: 20 }, () => fork(call, { runId: parent.id, ...request })));
    expect(new Set(answers.map(({ run }) => run.id)).size).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await childrenOf(parent.id)).toBe(1);
  });
});

describe("the id of a keyed child", () => {
  test("is refused to a create, but not to an attach", async () => {
    const call = callAs();
    const parent = await makeRun(fixture.client, call);
    const { run } = await fork(call, { runId: parent.id, idempotencyKey: "k" });
    const same = { id: run.id, project: run.project, name: run.name, tags: run.tags };
    const documents = { configJson: run.configJson, metadataJson: run.metadataJson };
    for (const request of [{ id: run.id }, { ...same, ...documents }]) {
      expect(await failure(fixture.client.createRun(request, call))).toMatchObject({ reason: "run_id_conflict" });
    }
    expect((await fixture.client.createRun({ id: run.id, mode: "auto" }, call)).run).toEqual(run);
  });

  test.each(["another organization", "the organization itself"])("may be taken by %s", async (who) => {
    const call = callAs();
    const parent = await makeRun(fixture.client, call);
    const id = forkRunId(call.orgId, "k");
    await makeRun(fixture.client, who === "another organization" ? callAs() : call, { id });
    const { run } = await fork(call, { runId: parent.id, idempotencyKey: "k" });
    expect(run.id).not.toBe(id);
    const again = await fork(call, { runId: parent.id, idempotencyKey: "k" });
    expect(again).toMatchObject({ replayed: true, run: { id: run.id } });
  });
});
