import type { Comparison, Operand } from "@tidemark/values/run-search";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { putAttributes, putAggregate } from "../metrics/ingested.fixture.ts";
import { compares, configValue } from "./search-evaluator.fixture.ts";
import { asOwner, callAs, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const order = { sortBy: "name", metricKey: "" };

/** Returns the names of the runs that a search finds; both lists and the counts agree. */
async function found(call: ReturnType<typeof callAs>, q: string): Promise<string[]> {
  const { runs, total } = await fixture.client.summarizeRuns({ filter: { q }, order, limit: 100 }, call);
  const names = runs.map(({ run }) => run?.name ?? "");
  expect(Number(total)).toBe(names.length);
  const newest = await fixture.client.listRuns(
    { filter: { q }, order: { sortBy: "created", metricKey: "" }, limit: 100 },
    call,
  );
  expect(newest.runs.map(({ run }) => run?.name ?? "").toSorted()).toEqual(names);
  const { totalRuns } = await fixture.client.getOverview({ filter: { q }, metricKey: "k" }, call);
  expect(totalRuns).toBe(total);
  return names;
}

describe("filters", () => {
  const call = callAs();
  beforeAll(async () => {
    const configs: Readonly<Record<string, string>> = {
      a: '{"lr":0.1,"opt":"adam","layers":{"n":2},"flag":true,"none":null}',
      b: '{"layers":{"n":5},"layers.n":3,"lr":1e-3,"opt":"Adam W"}',
      c: '{"list":[1],"lr":"0.1","opt":""}',
      d: "{}",
    };
    for (const [name, config] of Object.entries(configs)) {
      const { id } = await makeRun(fixture.client, call, { name, configJson: json(config) });
      if (name === "d") {
        await putAttributes(fixture, call.orgId, id, [
          ["config/lr", "7"],
          ["config/lr", "0.5"],
          ["config/layers/n", "9"],
          ["note", '"x"'],
        ]);
        await putAggregate(fixture, call.orgId, id, "val/loss", {
          latest: 3,
          min: 1,
          max: 5,
          mean: 2.5,
          count: 4,
        });
      }
      if (name === "a") {
        await putAttributes(fixture, call.orgId, id, [["config/lr", "7"]]);
        await putAggregate(fixture, call.orgId, id, "val/loss", { latest: 2 });
        await putAggregate(fixture, call.orgId, id, "acc", { latest: 2, min: 1, max: 5 });
      }
    }
    const foreign = callAs();
    await makeRun(fixture.client, foreign, { name: "foreign", configJson: json('{"lr":0.1}') });
  });

  test.each([
    ["numbers", "config.lr=0.1", ["a"]],
    ["numbers in another notation", "config.lr=0.001", ["b"]],
    ["numbers that are less", "config.lr<0.1", ["b"]],
    ["numbers that are different, not what is missing or a text", "config.lr!=0.1", ["b", "d"]],
    ["the newest attribute of log_config, where the config has nothing", "config.lr>=0.5", ["d"]],
    ["texts, minding case", 'config.opt="adam"', ["a"]],
    ["texts by code points", 'config.opt<"a"', ["b", "c"]],
    ["the empty text", 'config.opt=""', ["c"]],
    ["texts, never numbers", 'config.lr="0.1"', ["c"]],
    ["true and false as texts", 'config.flag="true"', ["a"]],
    ["no null", 'config.none!="x"', []],
    ["no list", 'config.list!="x"', []],
    ["the whole path before nested keys", "config.layers.n=3", ["b"]],
    ["nested keys, in documents and attributes", "config.layers.n!=3", ["a", "d"]],
    ["nothing that is missing", "config.nothing!=1", []],
    ["attributes", 'attributes.note="x"', ["d"]],
    ["attributes by their whole path", "attributes.config/lr=0.5", ["d"]],
    ["the latest value of a metric", "metrics.val/loss>=2", ["a", "d"]],
    ["the latest value by its name", "metrics.val/loss.latest=3", ["d"]],
    ["the best value where less is better", "metrics.val/loss.best=1", ["d"]],
    ["the best value where more is better", "metrics.acc.best=5", ["a"]],
    ["the lowest value", "metrics.acc.min=1", ["a"]],
    ["the highest value", "metrics.val/loss.max=5", ["d"]],
    ["the mean", "metrics.val/loss.mean=2.5", ["d"]],
    ["the count", "metrics.val/loss.count>1", ["d"]],
    ["a metric and no text", 'metrics.val/loss!="x"', []],
    ["what a minus excludes, also what is missing", "-config.lr=0.1", ["b", "c", "d"]],
    ["what NOT excludes", "NOT config.lr<1", ["c"]],
    ["several at a time", 'config.lr<1 (metrics.acc=2 OR config.opt="Adam W")', ["a", "b"]],
    ["words besides", "config.lr<1 name:b", ["b"]],
    ["regular expressions besides", "config.lr<1 name:re:/^[ab]$/ -config.lr=0.1", ["b"]],
    ["in incomplete text the words only", "config.lr<1 AND", []],
    ["numbers beyond all numbers", "config.lr<1e999", ["a", "b", "d"]],
  ])("find %s", async (_what, q, names) => {
    expect(await found(call, q)).toEqual(names);
  });

  test("do not find deleted runs", async () => {
    const own = callAs();
    const { id } = await makeRun(fixture.client, own, { configJson: json('{"lr":1}') });
    expect(await found(own, "config.lr=1")).toHaveLength(1);
    await fixture.client.deleteRun({ runId: id }, callAs({ orgId: own.orgId, scopes: ["runs:control"] }));
    expect(await found(own, "config.lr=1")).toEqual([]);
  });

  test("compare integers beyond 2^53 exactly, in configs and attributes", async () => {
    const own = callAs();
    const seeds: Readonly<Record<string, string>> = {
      a: "9007199254740991",
      b: "9007199254740992",
      c: "9007199254740993",
      d: "9007199254740994",
      e: "-9007199254740992",
      f: "-9007199254740993",
      g: "9223372036854775807",
      h: "9223372036854775808",
      i: "1e19",
      j: "9999999999999999999",
      k: "1e308",
    };
    for (const [name, seed] of Object.entries(seeds)) {
      const { id } = await makeRun(fixture.client, own, { name, configJson: json(`{"seed":${seed}}`) });
      await putAttributes(fixture, own.orgId, id, [["seed", seed]]);
    }
    const ordered = ["f", "e", "a", "b", "c", "d", "g", "h", "j", "i", "k"];
    for (const [i, name] of ordered.entries()) {
      const expected = { "=": [name], "<": ordered.slice(0, i), ">=": ordered.slice(i), "!=": ordered.toSpliced(i, 1) };
      for (const [operator, names] of Object.entries(expected)) {
        for (const column of ["config.seed", "attributes.seed"]) {
          const q = `${column}${operator}${seeds[name]}`;
          expect({ q, names: await found(own, q) }).toEqual({ q, names: names.toSorted() });
        }
      }
    }
    expect(await found(own, "config.seed=9007199254740993.0 config.seed=+9007199254740993")).toEqual(["c"]);
    expect(await found(own, "config.seed=10000000000000000000")).toEqual(["i"]);
    const byColumn = { sortBy: "config.seed", metricKey: "", sortDir: "asc" };
    const sorted = await fixture.client.summarizeRuns({ filter: {}, order: byColumn, limit: 100 }, own);
    expect(sorted.runs.map(({ run }) => run?.name)).toEqual(ordered);
  });

  test("read numbers that no double can hold as what is nearest", async () => {
    const own = callAs();
    const { id } = await makeRun(fixture.client, own, { name: "a" });
    await asOwner(fixture, `UPDATE runs.runs SET config = '{"a":1e-400,"b":-1e-400}' WHERE id = $1`, [id]);
    expect(await found(own, "config.a=0 config.b=0")).toEqual(["a"]);
    await putAttributes(fixture, own.orgId, id, [
      ["high", "1e400"],
      ["low", "-1e400"],
    ]);
    expect(await found(own, "attributes.high>1e308 attributes.low<-1e308")).toEqual(["a"]);
  });
});

const scalar = fc.constantFrom<unknown>(0, 1, -1, 0.5, 1e-7, 1e21, true, false, null, "", "a", "B", "é", "1", "x y");
const { config } = fc.letrec<{ config: Record<string, unknown>; value: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 2 }, { weight: 3, arbitrary: scalar }, fc.constant([1]), tie("config")),
  config: fc.dictionary(fc.constantFrom("a", "b", "a.b", "b.a", 'q"', "k\u0001", "é"), tie("value"), { maxKeys: 5 }),
}));
const path = fc
  .array(fc.constantFrom("a", "a", "b", 'q"', "é"), { minLength: 1, maxLength: 3 })
  .map((names) => names.join("."));
const filter = fc.record({
  path,
  comparison: fc.constantFrom<Comparison>("<", "<=", ">", ">=", "=", "!="),
  operand: fc.constantFrom<Operand>(0, 1, 0.5, 1e21, "", "a", "true", "1", "é"),
});

const someFilter: [{ path: string; comparison: Comparison; operand: Operand }, boolean] = [
  { path: "a", comparison: ">", operand: 0 },
  false,
];

test("filters find what the rules say", async () => {
  let all = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(config, { minLength: 4, maxLength: 8 }),
      fc.array(fc.tuple(filter, fc.boolean()), { minLength: 12, maxLength: 12 }),
      async (configs, filters) => {
        const call = callAs({ orgId: randomUUID() });
        const stored: [string, string][] = [];
        for (const [i, document] of configs.entries()) {
          const { name, configJson } = await makeRun(fixture.client, call, {
            name: `r${i}`,
            configJson: json(JSON.stringify(document)),
          });
          stored.push([name, new TextDecoder().decode(configJson)]);
        }
        for (const [{ path: at, comparison, operand }, negated] of filters) {
          const q = `${negated ? "-" : ""}config.${at}${comparison}${JSON.stringify(operand)}`;
          const expected = stored
            .filter(([, text]) => compares(configValue(text, at), { comparison, operand }) !== negated)
            .map(([name]) => name);
          expect({ q, names: await found(call, q) }).toEqual({ q, names: expected });
          all += negated ? 0 : expected.length;
        }
      },
    ),
    // Random data alone matches little in some runs of the test.
    { numRuns: 12, examples: [[[{ a: 1 }, { a: { b: 1 } }, { a: 0.5 }, {}], Array(12).fill(someFilter)]] },
  );
  // A test in which nothing is ever found would prove nothing.
  expect(all).toBeGreaterThan(20);
});
