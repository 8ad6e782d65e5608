import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { asOwner, callAs, failure, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { summarize } from "./list-pages.fixture.ts";
import { PAGE_BYTES_MAX, runsThatFit } from "./page-weight.sql.ts";
import { storedRun, storeRuns } from "./stored-runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

test.each([
  ["nothing", [], 0],
  ["light runs", [10, 20, 30], 3],
  ["runs that fill the page exactly", [PAGE_BYTES_MAX - 1, 1], 2],
  ["one byte too many", [PAGE_BYTES_MAX - 1, 1, 1], 2],
  ["a first run that is too heavy by itself", [PAGE_BYTES_MAX + 1, 1], 1],
])("%s: %j bytes, of which %d runs fit", (_what, bytes, fitting) => {
  expect(runsThatFit(bytes)).toBe(fitting);
});

test("tags of control characters weigh what they are as JSON", async () => {
  const call = callAs();
  const [COUNT, FITTING, CHARACTERS] = [70, 67, 166_000];
  const runs = Array.from({ length: COUNT }, () => storedRun());
  await storeRuns(fixture, call.orgId, runs);
  await asOwner(fixture, "UPDATE runs.runs SET tags = ARRAY[repeat(chr(1), $2::integer)] WHERE org_id = $1", [
    call.orgId,
    CHARACTERS,
  ]);
  const list = (limit: number) =>
    fixture.client.listRuns({ filter: { q: "" }, order: { sortBy: "created", metricKey: "k" }, limit }, call);
  expect(await failure(list(COUNT))).toMatchObject({ field: "limit", message: expect.stringContaining(`${FITTING} `) });
  expect((await list(FITTING)).runs).toHaveLength(FITTING);
});

describe("a page of heavy documents", () => {
  const call = callAs();
  const DOCUMENT_BYTES = 1_000_000;
  const COUNT = 70;
  // This many are within 64 MiB.
  const FITTING = 67;

  beforeAll(async () => {
    const ids = Array.from({ length: COUNT }, () => storedRun({ tags: ["heavy"] }));
    await storeRuns(fixture, call.orgId, ids);
    await asOwner(
      fixture,
      `UPDATE runs.runs SET config = '{"a":"' || repeat('x', $2::integer - 10) || '"}' WHERE org_id = $1`,
      [call.orgId, DOCUMENT_BYTES],
    );
  });
  const list = (limit: number) =>
    fixture.client.listRuns({ filter: { q: "" }, order: { sortBy: "created", metricKey: "k" }, limit }, call);

  test("of GET /runs is 400 that says how many fit", async () => {
    for (const limit of [COUNT, 1000, FITTING + 1]) {
      expect(await failure(list(limit))).toMatchObject({
        reason: "bad_request",
        field: "limit",
        message: expect.stringContaining(`at most ${FITTING} `),
      });
    }
    expect((await list(5)).runs).toHaveLength(5);
  });

  test("of summaries ends early, and continues with the next cursor", async () => {
    const first = await summarize(fixture, call, { q: "tag:heavy", limit: 100 });
    expect(first).toMatchObject({ total: COUNT, nextCursor: expect.stringMatching(/./) });
    expect(first.ids).toHaveLength(FITTING);
    const second = await summarize(fixture, call, { q: "tag:heavy", limit: 100, cursor: first.nextCursor });
    expect(second).toMatchObject({ total: COUNT, nextCursor: "" });
    expect(new Set([...first.ids, ...second.ids]).size).toBe(COUNT);
  });
});
