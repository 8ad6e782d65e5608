import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { callAs, failure, json, makeRun, startRuns, text, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

test("tags are replaced, and an empty list clears them", async () => {
  const call = callAs();
  const { id } = await makeRun(fixture.client, call, { tags: ["a"] });
  const changed = await fixture.client.updateRun({ runId: id, tags: { tags: ["b", "c", "b"] } }, call);
  expect(changed.run?.tags).toEqual(["b", "c", "b"]);
  expect((await fixture.client.updateRun({ runId: id, tags: { tags: [] } }, call)).run?.tags).toEqual([]);
});

test("notes are the member of the metadata and leave the rest as it was sent", async () => {
  const call = callAs();
  const metadataJson = json('{"seed":12345678901234567890,"z":1.50,"notes":"old"}');
  const { id } = await makeRun(fixture.client, call, { metadataJson });
  const { run } = await fixture.client.updateRun({ runId: id, notes: 'say "hi"' }, call);
  expect(run?.notes).toBe('say "hi"');
  expect(text(run?.metadataJson)).toBe('{"notes":"say \\"hi\\"","seed":12345678901234567890,"z":1.50}');
  const cleared = await fixture.client.updateRun({ runId: id, notes: "" }, call);
  expect(cleared.run?.notes).toBeUndefined();
  expect(text(cleared.run?.metadataJson)).toBe('{"seed":12345678901234567890,"z":1.50}');
  expect((await fixture.client.updateRun({ runId: id, notes: "" }, call)).run).toEqual(cleared.run);
});

test("status, tags and notes change together", async () => {
  const call = callAs();
  const { id } = await makeRun(fixture.client, call);
  const { run } = await fixture.client.updateRun(
    { runId: id, status: "finished", tags: { tags: ["t"] }, notes: "n" },
    call,
  );
  expect(run).toMatchObject({ status: "finished", tags: ["t"], notes: "n" });
  expect((await fixture.client.getRun({ runId: id, metricLimit: 1 }, call)).run?.run).toEqual(run);
});

test("notes that are not a text in the metadata do not show as notes", async () => {
  const call = callAs();
  const run = await makeRun(fixture.client, call, { metadataJson: json('{"notes":{"a":1}}') });
  expect(run.notes).toBeUndefined();
});

test("40 simultaneous changes of tags and notes lose none", async () => {
  const call = callAs();
  const { id } = await makeRun(fixture.client, call, { metadataJson: json('{"keep":1}') });
  await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      fixture.client.updateRun(i % 2 === 0 ? { runId: id, notes: "n" } : { runId: id, tags: { tags: ["t"] } }, call),
    ),
  );
  const { run } = await fixture.client.getRun({ runId: id, metricLimit: 1 }, call);
  expect(run?.run).toMatchObject({ tags: ["t"], notes: "n" });
  expect(text(run?.run?.metadataJson)).toBe('{"keep":1,"notes":"n"}');
});

describe("faults", () => {
  const faults: [string, { status?: string; bodyFault?: { text: string; field: string } }, string | undefined][] = [
    ["nothing to change", {}, undefined],
    ["an unknown status", { status: "paused" }, "status"],
    ["a fault that the gateway found", { bodyFault: { text: "tags must be a list", field: "tags" } }, "tags"],
    ["a fault of no single field", { bodyFault: { text: "one is required", field: "" } }, undefined],
    ["a fault next to a valid field", { status: "failed", bodyFault: { text: "bad", field: "notes" } }, "notes"],
  ];

  test.each(faults)("%s is 400 and changes nothing", async (_what, request, field) => {
    const call = callAs();
    const before = await makeRun(fixture.client, call);
    const refused = fixture.client.updateRun({ runId: before.id, ...request }, call);
    expect(await failure(refused)).toMatchObject({ reason: "bad_request", field });
    expect((await fixture.client.getRun({ runId: before.id, metricLimit: 1 }, call)).run?.run).toEqual(before);
  });

  test.each(faults)("%s of a missing run is 404", async (_what, request) => {
    const refused = fixture.client.updateRun({ runId: randomUUID(), ...request }, callAs());
    expect(await failure(refused)).toMatchObject({ reason: "not_found", message: "run not found" });
  });

  test("an id that is not a UUID is 404", async () => {
    expect(await failure(fixture.client.updateRun({ runId: "x", status: "failed" }, callAs()))).toMatchObject({
      reason: "not_found",
      message: "run not found",
    });
  });
});

test("a config gets members, and never another value of one", async () => {
  const call = callAs();
  const { id } = await makeRun(fixture.client, call, { configJson: json('{"lr":0.10,"o":{"a":1}}') });
  const add = (config: string, more: object = {}) =>
    fixture.client.updateRun({ runId: id, configAdditionsJson: json(config), ...more }, call);
  const { run } = await add('{"layers":3,"lr":0.10,"a.b":"x"}');
  expect(text(run?.configJson)).toBe('{"a.b":"x","layers":3,"lr":0.10,"o":{"a":1}}');
  expect((await add('{"layers":3}')).run?.configJson).toEqual(run?.configJson);
  const refused = await failure(add('{"new":1,"layers":"3"}', { notes: "n", metadataPatchJson: json('{"k":1}') }));
  expect(refused).toMatchObject({ reason: "bad_request", field: "config" });
  expect((await fixture.client.getRun({ runId: id, metricLimit: 1 }, call)).run?.run).toEqual({
    ...run,
    lastSeenAt: expect.any(String),
  });
  const found = await fixture.client.listRuns(
    { filter: { q: "config:layers" }, order: { sortBy: "created" }, limit: 1 },
    call,
  );
  expect(found.runs).toHaveLength(1);
});

test("metadata is patched before notes are written, within its bytes", async () => {
  const call = callAs();
  const { id } = await makeRun(fixture.client, call, { metadataJson: json('{"a":{"x":1},"notes":"old","seed":1.0}') });
  const patch = (metadata: string, more: object = {}) =>
    fixture.client.updateRun({ runId: id, metadataPatchJson: json(metadata), ...more }, call);
  const { run } = await patch('{"a":{"y":2,"x":null},"notes":"patched"}', { notes: "new" });
  expect(text(run?.metadataJson)).toBe('{"a":{"y":2},"notes":"new","seed":1.0}');
  const long = JSON.stringify({ b: "x".repeat(4 * 1024 * 1024) });
  expect(await failure(patch(long))).toMatchObject({ reason: "bad_request", field: "metadata" });
});
