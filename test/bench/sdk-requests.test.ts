import { expect, test } from "@jest/globals";
import { queuedBatch, queuedPoint, withoutKey } from "./sdk-requests.ts";

const runId = "0c9b8a1e-1111-4222-8333-444455556666";
const keyOf = (shot: { readonly headers?: Readonly<Record<string, string>> }): string =>
  shot.headers?.["idempotency-key"] ?? "";

test("an event has a key of its run and its own", () => {
  const [first, second] = [queuedPoint(runId, "{}"), queuedPoint(runId, "{}")];
  expect(first).toMatchObject({ method: "POST", path: `/runs/${runId}/metrics`, body: "{}" });
  expect(keyOf(first)).toMatch(new RegExp(`^instantml-${runId}-[0-9a-f]{32}$`));
  expect(keyOf(second)).not.toBe(keyOf(first));
});

test("a batch has the hash of its events for a key", () => {
  const shot = queuedBatch(runId, "{}");
  expect(shot.path).toBe(`/runs/${runId}/metrics/batch`);
  expect(keyOf(shot)).toMatch(/^instantml-batch-[0-9a-f]{64}$/);
});

test("what is sent without the queue has no key", () => {
  const shot = withoutKey(queuedPoint(runId, "{}"));
  expect(Object.keys(shot.headers ?? {})).toEqual(["accept", "accept-encoding", "user-agent"]);
});
