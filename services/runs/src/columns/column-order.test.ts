import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { indexSortValues, putAggregate, putAttributes } from "../metrics/ingested.fixture.ts";
import { callAs, failure, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { keepColumn } from "./kept-columns.fixture.ts";

let fixture: RunsFixture;
const call = callAs();

/** The values to sort by, next to each other. A value is a number, a text, or undefined for none. */
type Row = { readonly name: string; readonly values: Readonly<Record<string, number | string | undefined>> };
const rows: Row[] = [];

const TEXTS = ["", "a", "B", "é", "a"];
const NUMBERS = [1, -1, 0.5, 1, 1e21, 0, -3.5];
const COUNT = 40;

beforeAll(async () => {
  fixture = await startRuns();
  for (let n = 0; n < COUNT; n += 1) {
    const mixed = n % 3 === 0 ? TEXTS[n % TEXTS.length] : n % 3 === 1 ? NUMBERS[n % NUMBERS.length] : undefined;
    const nested = n % 4 === 0 ? undefined : NUMBERS[(n * 2) % NUMBERS.length]!;
    const name = `r${String((n * 7) % COUNT).padStart(2, "0")}`;
    const config = {
      mixed: mixed ?? (n % 2 === 0 ? null : [1]),
      ...(nested === undefined ? {} : { a: { b: nested } }),
    };
    const { id } = await makeRun(fixture.client, call, {
      name,
      project: n % 2 === 0 ? "even" : "odd",
      configJson: json(JSON.stringify(config)),
    });
    const logged = n % 5 === 0 ? undefined : TEXTS[n % TEXTS.length]!;
    if (logged !== undefined) {
      await putAttributes(fixture, call.orgId, id, [
        ["logged", '"old"'],
        ["logged", JSON.stringify(logged)],
        ["config/sdk/x", JSON.stringify(logged)],
      ]);
    }
    const value = n % 6 === 0 ? undefined : NUMBERS[(n * 3) % NUMBERS.length]!;
    const figures = {
      latest: value,
      min: (value ?? 0) - (n % 3),
      max: (value ?? 0) + (n % 2),
      mean: value,
      count: 1 + (n % 3),
    };
    for (const key of ["loss", "acc"]) {
      if (value !== undefined)
        await putAggregate(fixture, call.orgId, id, key, { ...figures, latest: value, mean: value });
    }
    if (n % 2 === 0 && value !== undefined) await indexSortValues(fixture, call.orgId, [id]);
    const measured = <T>(figure: T): T | undefined => (value === undefined ? undefined : figure);
    rows.unshift({
      name,
      values: {
        "config.mixed": mixed,
        "config.a.b": nested,
        "config.sdk.x": logged,
        "attributes.logged": logged,
        "metrics.loss": value,
        "metrics.loss.best": measured(figures.min),
        "metrics.loss.min": measured(figures.min),
        "metrics.loss.max": measured(figures.max),
        "metrics.acc.best": measured(figures.max),
        "metrics.acc.min": measured(figures.min),
        "metrics.acc.mean": value,
        "metrics.acc.count": measured(figures.count),
        "config.nothing": undefined,
        name,
      },
    });
  }
});
afterAll(() => fixture.close());

/** Compares numbers before texts, texts by code points. */
function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return typeof a === "number" ? -1 : 1;
}

/** Returns the names in the order of a column. `rows` has the newest first, and sorting is stable. */
function sorted(column: string, dir: string, only: (row: Row) => boolean = () => true): string[] {
  const valued = rows.filter((row) => only(row) && row.values[column] !== undefined);
  const rest = rows.filter((row) => only(row) && row.values[column] === undefined);
  const order = (a: Row, b: Row) => compare(a.values[column]!, b.values[column]!);
  const ordered = valued.toSorted((a, b) => (dir === "desc" ? order(b, a) : order(a, b)));
  return [...ordered, ...rest].map(({ name }) => name);
}

type Filter = { readonly project?: string; readonly q?: string };

/** Returns the names of all pages of a list, one after the other. */
async function paged(sortBy: string, sortDir: string, limit: number, filter: Filter = {}): Promise<string[]> {
  const names: string[] = [];
  for (let cursor = ""; ;) {
    const order = { sortBy, metricKey: "", sortDir };
    const page = await fixture.client.summarizeRuns({ filter, order, limit, cursor }, call);
    names.push(...page.runs.map(({ run }) => run?.name ?? ""));
    if (page.nextCursor === "") return names;
    cursor = page.nextCursor;
  }
}

const COLUMNS = [
  "config.mixed",
  "config.a.b",
  "config.sdk.x",
  "attributes.logged",
  "metrics.loss",
  "metrics.loss.best",
  "metrics.loss.min",
  "metrics.loss.max",
  "metrics.acc.best",
  "metrics.acc.min",
  "metrics.acc.mean",
  "metrics.acc.count",
  "config.nothing",
  "name",
];
const cases = COLUMNS.flatMap((column) => ["asc", "desc"].map((dir): [string, string] => [column, dir]));

describe.each(["looked up", "kept"])("a table whose values are %s", (how) => {
  beforeAll(async () => {
    if (how === "kept") for (const name of COLUMNS) await keepColumn(fixture, call.orgId, name);
  });

  test.each(cases)("is sorted by %s %s, page by page", async (column, dir) => {
    const expected = sorted(column, dir);
    expect(await paged(column, dir, 100)).toEqual(expected);
    expect(await paged(column, dir, 7)).toEqual(expected);
  });

  test.each(cases)("sorted by %s %s begins anywhere", async (column, dir) => {
    const expected = sorted(column, dir);
    const order = { sortBy: column, metricKey: "", sortDir: dir };
    for (const from of [1, 33, 45]) {
      for (const place of [{ offset: BigInt(from) }, { cursor: `offset:${from}` }]) {
        const { runs } = await fixture.client.summarizeRuns({ order, limit: 5, ...place }, call);
        expect(runs.map(({ run }) => run?.name)).toEqual(expected.slice(from, from + 5));
      }
    }
  });

  test.each(cases)("sorted by %s %s shows what a filter lets through", async (column, dir) => {
    const isEven = ({ name }: Row) => rows.findIndex((row) => row.name === name) % 2 === 1;
    expect(await paged(column, dir, 6, { project: "even" })).toEqual(sorted(column, dir, isEven));
    const positive = ({ values }: Row) => typeof values["config.a.b"] === "number" && values["config.a.b"] > 0;
    expect(await paged(column, dir, 6, { q: "config.a.b>0" })).toEqual(sorted(column, dir, positive));
    const named = ({ name }: Row) => name.startsWith("r1");
    expect(await paged(column, dir, 3, { q: "name:re:/^r1/" })).toEqual(sorted(column, dir, named));
  });

  test("is ascending by a column, and descending by time, unless requested otherwise", async () => {
    expect(await paged("config.a.b", "", 100)).toEqual(sorted("config.a.b", "asc"));
    const newest = rows.map(({ name }) => name);
    expect(await paged("created", "", 7)).toEqual(newest);
    expect(await paged("created", "desc", 7)).toEqual(newest);
    expect(await paged("created", "asc", 7)).toEqual(newest.toReversed());
  });

  test.each(["duration", "status", "metric-best", "metric-latest", "created", "name"])(
    "can be sorted by %s in both directions",
    async (sortBy) => {
      const down = await paged(sortBy, "desc", 9);
      expect(down.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
      expect((await paged(sortBy, "asc", 9)).toSorted()).toEqual(down.toSorted());
    },
  );

  test("refuses the cursor of another order", async () => {
    const orders = [
      "config.mixed asc",
      "config.mixed desc",
      "config.a.b asc",
      "metrics.loss asc",
      "metrics.loss.best asc",
    ]
      .map((order) => order.split(" ") as [string, string])
      .map(([sortBy, sortDir]) => ({ sortBy, metricKey: "", sortDir }));
    for (const order of orders) {
      const { nextCursor } = await fixture.client.summarizeRuns({ order, limit: 3 }, call);
      for (const other of orders.filter((one) => one !== order)) {
        const refused = failure(fixture.client.summarizeRuns({ order: other, limit: 3, cursor: nextCursor }, call));
        expect(await refused).toMatchObject({ reason: "bad_request", field: "cursor" });
      }
    }
  });

  test.each([
    [{ sortBy: "config.x", metricKey: "", sortDir: "up" }, "sort_dir"],
    [{ sortBy: "name", metricKey: "", sortDir: "ASC" }, "sort_dir"],
  ])("%j is refused", async (order, field) => {
    const refused = await failure(fixture.client.summarizeRuns({ order, limit: 3 }, call));
    expect(refused).toMatchObject({ reason: "bad_request", field });
  });
});
