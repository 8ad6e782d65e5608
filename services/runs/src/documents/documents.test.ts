import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { callAs, json, makeRun, startRuns, text, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const numbers = [
  "12345678901234567890",
  "-9007199254740993",
  "18446744073709551615",
  "1e300",
  "1E-7",
  "0.1",
  "0.10000000000000000001",
  "1.0",
  "-0",
  "-0.0",
  "5e-324",
];

test.each(["configJson", "metadataJson"] as const)("%s is read back with the digits that were sent", async (field) => {
  const call = callAs();
  const document = `{"list":[${numbers.join(",")}]}`;
  const made = await makeRun(fixture.client, call, { [field]: json(document) });
  expect(text(made[field])).toBe(document);
  const { run } = await fixture.client.getRun({ runId: made.id, metricLimit: 1 }, call);
  expect(text(run?.run?.[field])).toBe(document);
  const { runs } = await fixture.client.listRuns({ order: { sortBy: "created", metricKey: "k" }, limit: 1 }, call);
  expect(text(runs[0]?.run?.[field])).toBe(document);
});

test.each([
  ["an own member __proto__", '{"__proto__":{"a":1},"constructor":2}'],
  ["escaped control characters and half a surrogate pair", '{"a":"\\u0000\\ud800","é":"\u{1F600}"}'],
  ["text that is SQL", `{"a":"'; DROP TABLE runs.runs; --"}`],
  ["a megabyte of text", `{"a":"${"x".repeat(900_000)}"}`],
])("%s is kept", async (_what, document) => {
  const { configJson } = await makeRun(fixture.client, callAs(), { configJson: json(document) });
  expect(JSON.parse(text(configJson))).toEqual(JSON.parse(document));
  expect(text(configJson)).toHaveLength(document.length);
});

test("a key that is sent twice counts once, with its last value", async () => {
  const { configJson } = await makeRun(fixture.client, callAs(), { configJson: json('{"a":1,"b":2,"a":3}') });
  expect(text(configJson)).toBe('{"a":3,"b":2}');
});
