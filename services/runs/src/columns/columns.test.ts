import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { putAggregate, putAttributes } from "../metrics/ingested.fixture.ts";
import { callAs, failure, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { CELL_BYTES_MAX } from "./read-columns.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const order = { sortBy: "name", metricKey: "" };

/** Returns the columns of the runs of an organization by the names of the runs. */
async function cellsOf(
  call: ReturnType<typeof callAs>,
  columns: string[],
  selection = false,
): Promise<Record<string, string[]>> {
  const answer = await fixture.client.summarizeRuns({ order, limit: 100, columns, selection }, call);
  expect(answer.columnValues).toHaveLength(columns.length === 0 ? 0 : answer.runs.length);
  return Object.fromEntries(
    answer.runs.map(({ run }, i) => [run?.name ?? "", answer.columnValues[i]?.valuesJson ?? []]),
  );
}

describe("columns", () => {
  const call = callAs();
  beforeAll(async () => {
    const config =
      '{"lr":0.10,"big":12345678901234567890,"opt":{"name":"adam"},"opt.name":"sgd","list":[1,2.0],"none":null,"on":true}';
    const { id } = await makeRun(fixture.client, call, { name: "a", configJson: json(config) });
    await putAttributes(fixture, call.orgId, id, [
      ["config/lr", "9"],
      ["note", '"old"'],
      ["note", '"new"'],
      ["config/only/here", "1.50"],
      ["nothing", "null"],
    ]);
    await putAggregate(fixture, call.orgId, id, "loss", { latest: 3, min: 1, max: 5, mean: 2.5, count: 4 });
    await makeRun(fixture.client, call, { name: "b" });
    await makeRun(fixture.client, callAs(), { name: "foreign", configJson: json(config) });
  });

  test.each([
    ["a number with its digits", "config.lr", "0.10"],
    ["a large number with its digits", "config.big", "12345678901234567890"],
    ["the key that is the whole path", "config.opt.name", '"sgd"'],
    ["a list", "config.list", "[1,2.0]"],
    ["an object", "config.opt", '{"name":"adam"}'],
    ["true", "config.on", "true"],
    ["nothing for null", "config.none", ""],
    ["nothing inside a number", "config.big.rawJSON", ""],
    ["nothing for what is not there", "config.nothing", ""],
    ["an attribute of log_config", "config.only.here", "1.50"],
    ["the newest value of an attribute", "attributes.note", '"new"'],
    ["nothing for an attribute that is null", "attributes.nothing", ""],
    ["the latest value of a metric", "metrics.loss", "3"],
    ["the latest value by its name", "metrics.loss.latest", "3"],
    ["the best value", "metrics.loss.best", "1"],
    ["the lowest value", "metrics.loss.min", "1"],
    ["the highest value", "metrics.loss.max", "5"],
    ["the mean", "metrics.loss.mean", "2.5"],
    ["the count", "metrics.loss.count", "4"],
    ["nothing for a metric that is not there", "metrics.loss.variance", ""],
  ])("show %s", async (_what, name, cell) => {
    expect(await cellsOf(call, [name])).toEqual({ a: [cell], b: [""] });
  });

  test("are in the requested order, also without metrics", async () => {
    const columns = ["metrics.loss.max", "config.lr", "metrics.x", "attributes.note", "metrics.loss.min"];
    const expected = { a: ["5", "0.10", "", '"new"', "1"], b: ["", "", "", "", ""] };
    expect(await cellsOf(call, columns)).toEqual(expected);
    expect(await cellsOf(call, columns, true)).toEqual(expected);
  });

  test("are none unless they are requested", async () => {
    expect(await cellsOf(call, [])).toEqual({ a: [], b: [] });
  });

  test("are 50 at most, of known kinds", async () => {
    const ask = (columns: string[]) => failure(fixture.client.summarizeRuns({ order, limit: 1, columns }, call));
    const many = Array.from({ length: 50 }, (_, i) => `config.c${i}`);
    expect((await cellsOf(call, many))["a"]).toHaveLength(50);
    expect(await ask([...many, "config.x"])).toMatchObject({ reason: "bad_request", field: "columns" });
  });
});

test("a value that is too large is not shown", async () => {
  const call = callAs();
  const long = (bytes: number) => `"${"x".repeat(bytes - 2)}"`;
  const { id } = await makeRun(fixture.client, call, {
    name: "a",
    configJson: json(`{"fits":${long(CELL_BYTES_MAX)},"not":${long(CELL_BYTES_MAX + 1)}}`),
  });
  await putAttributes(fixture, call.orgId, id, [
    ["fits", long(CELL_BYTES_MAX)],
    ["not", long(CELL_BYTES_MAX + 1)],
  ]);
  const cells = await cellsOf(call, ["config.fits", "config.not", "attributes.fits", "attributes.not"]);
  expect(cells["a"]).toEqual([long(CELL_BYTES_MAX), "", long(CELL_BYTES_MAX), ""]);
});

test("a page whose cells are too heavy ends early, with a cursor", async () => {
  const call = callAs();
  const paths = Array.from({ length: 50 }, (_, i) => `p${i}`);
  const heavy = `"${"x".repeat(CELL_BYTES_MAX - 2)}"`;
  for (const name of ["a", "b", "c", "d", "e", "f"]) {
    const { id } = await makeRun(fixture.client, call, { name });
    await putAttributes(
      fixture,
      call.orgId,
      id,
      paths.map((path) => [path, heavy]),
    );
  }
  const columns = paths.map((path) => `attributes.${path}`);
  const seen: string[] = [];
  for (let cursor = ""; ;) {
    const page = await fixture.client.summarizeRuns({ order, limit: 100, columns, cursor }, call);
    expect(page.runs.length).toBeGreaterThan(0);
    expect(page.columnValues.every(({ valuesJson }) => valuesJson.every((cell) => cell === heavy))).toBe(true);
    seen.push(...page.runs.map(({ run }) => run?.name ?? ""));
    if (page.nextCursor === "") break;
    expect(page.runs.length).toBe(5);
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(["a", "b", "c", "d", "e", "f"]);
});

describe("the tag of a page", () => {
  const ask = (call: ReturnType<typeof callAs>, more = {}) =>
    fixture.client.summarizeRuns({ order, limit: 100, columns: ["attributes.x"], ...more }, call);

  test("is known until something on the page changes", async () => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call, { name: "a" });
    const { tag } = await ask(call);
    expect(tag).toMatch(/^[\w-]{20}$/);
    expect(await ask(call, { knownTags: ["x", tag] })).toMatchObject({ tag, notModified: true, runs: [], total: 0n });
    expect(await ask(call, { knownTags: ["*"] })).toMatchObject({ tag, notModified: true });
    const seen = new Set([tag]);
    const changes = [
      () => putAttributes(fixture, call.orgId, id, [["x", "1"]]),
      () => putAggregate(fixture, call.orgId, id, "loss", { latest: 1 }),
      () => fixture.client.updateRun({ runId: id, tags: { tags: ["t"] } }, call),
      () => fixture.client.updateRun({ runId: id, status: "failed" }, call),
      () => makeRun(fixture.client, call, { name: "b" }),
    ];
    for (const change of changes) {
      await change();
      const answer = await ask(call, { knownTags: [...seen] });
      expect(answer.notModified).toBe(false);
      expect(seen.has(answer.tag)).toBe(false);
      seen.add(answer.tag);
    }
  });

  test("does not change when a run is seen", async () => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call, { name: "a" });
    const { tag } = await ask(call);
    await fixture.client.recordSignsOfLife({ signs: [{ orgId: call.orgId, runId: id, ageMs: 0n }] }, call);
    fixture.clock.aheadMs = 86_400_000;
    const answer = await ask(call);
    fixture.clock.aheadMs = 0;
    expect(answer.runs[0]?.run?.stale).toBe(true);
    expect(answer.tag).toBe(tag);
  });

  test("is another one for other columns and without metrics", async () => {
    const call = callAs();
    await makeRun(fixture.client, call, { name: "a" });
    const tags = await Promise.all([
      ask(call),
      ask(call, { columns: ["attributes.y"] }),
      ask(call, { selection: true }),
    ]);
    expect(new Set(tags.map(({ tag }) => tag)).size).toBe(3);
  });
});
