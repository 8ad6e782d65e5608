import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { putAttributes, putAggregate } from "../metrics/ingested.fixture.ts";
import { storedRun, storeRuns } from "../list/stored-runs.fixture.ts";
import { asOwner, callAs, failure, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { GROUPS_MAX } from "./group-runs.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

type Ask = {
  names?: string[];
  allBut?: boolean;
  runIds?: string[];
  filter?: { q?: string; project?: string };
  keys?: string[];
};
const ask = ({ names = [], allBut = false, ...rest }: Ask, who: ReturnType<typeof callAs>) =>
  fixture.client.groupRuns(
    { by: { names, allBut }, ...(rest.runIds === undefined ? { filter: {} } : {}), ...rest },
    who,
  );

describe("groups", () => {
  const call = callAs();
  const nameOf = new Map<string, string>();
  const ids: string[] = [];
  const run = async (name: string, config: string, tags: string[] = []): Promise<string> => {
    const { id } = await makeRun(fixture.client, call, { name, project: "p", configJson: json(config), tags });
    nameOf.set(id, name);
    ids.push(id);
    return id;
  };
  beforeAll(async () => {
    await run("a", '{"lr":0.10,"opt":{"name":"adam","wd":1},"seed":1}', ["y", "x"]);
    await run("b", '{"lr":1e-1,"opt":{"wd":1.0,"name":"adam"},"seed":2}', ["x", "y"]);
    const c = await run("c", '{"lr":10,"seed":1,"opt":{"name":"sgd"}}', ["x"]);
    const d = await run("d", '{"lr":"10","none":null}');
    await putAttributes(fixture, call.orgId, d, [
      ["config/opt/name", '"old"'],
      ["config/opt/name", '"sgd"'],
      ["config/seed", "7"],
      ["config/deep", '{"er": 1}'],
      ["other", "1"],
    ]);
    await putAggregate(fixture, call.orgId, c, "loss", { latest: 3, min: 1, max: 5 });
    await putAggregate(fixture, call.orgId, ids[0]!, "acc", { latest: 1, min: 1, max: 2 });
  });

  const found = async (request: Ask) => {
    const { columns, groups } = await ask(request, call);
    return {
      columns,
      groups: groups.map((group) => [group.valuesJson, group.runIds.map((id) => nameOf.get(id)!).toSorted()]),
    };
  };

  test("have the runs with the same value, in any notation; the largest first, then numbers, then texts", async () => {
    expect(await found({ names: ["config.lr"] })).toEqual({
      columns: ["config.lr"],
      groups: [
        [[expect.stringMatching(/^0\.10$|^1e-1$/)], ["a", "b"]],
        [["10"], ["c"]],
        [['"10"'], ["d"]],
      ],
    });
  });

  test("of equal size are in the order of their values, missing ones last", async () => {
    const { groups } = await found({ names: ["config.seed", "config.wd"], runIds: [ids[3]!, ids[1]!, ids[0]!] });
    expect(groups).toEqual([
      [["1", ""], ["a"]],
      [["2", ""], ["b"]],
      [["7", ""], ["d"]],
    ]);
    expect((await found({ names: ["config.opt.wd"], runIds: [ids[3]!, ids[0]!] })).groups).toEqual([
      [["1"], ["a"]],
      [[""], ["d"]],
    ]);
  });

  test("read what log_config wrote", async () => {
    expect((await found({ names: ["config.opt.name"] })).groups).toEqual([
      [['"adam"'], ["a", "b"]],
      [['"sgd"'], ["c", "d"]],
    ]);
  });

  test("are by the sets of tags", async () => {
    expect((await found({ names: ["tags"] })).groups).toEqual([
      [['["x","y"]'], ["a", "b"]],
      [['["x"]'], ["c"]],
      [[""], ["d"]],
    ]);
    expect((await found({ names: ["tags", "config.seed"], runIds: [ids[0]!] })).groups).toEqual([
      [['["x","y"]', "1"], ["a"]],
    ]);
  });

  test("are by all keys of the configs but some, and those below them", async () => {
    expect(await found({ names: ["config.seed", "config.deep"], allBut: true })).toEqual({
      columns: ["config.lr", "config.opt.name", "config.opt.wd"],
      groups: [
        [
          [expect.any(String), '"adam"', expect.any(String)],
          ["a", "b"],
        ],
        [["10", '"sgd"', ""], ["c"]],
        [['"10"', '"sgd"', ""], ["d"]],
      ],
    });
    expect((await found({ allBut: true, runIds: [ids[3]!] })).columns).toEqual([
      "config.deep.er",
      "config.lr",
      "config.opt.name",
      "config.seed",
    ]);
  });

  test("without columns are one", async () => {
    expect(await found({})).toEqual({ columns: [], groups: [[[], ["a", "b", "c", "d"]]] });
    expect(await found({ filter: { q: "nothing" } })).toEqual({ columns: [], groups: [] });
    expect((await found({ filter: { q: "name:a", project: "p" } })).groups).toEqual([[[], ["a"]]]);
    expect((await ask({}, callAs({ orgId: call.orgId, projectId: randomUUID() }))).groups).toEqual([]);
  });

  test("have the latest and the best values of keys", async () => {
    const { groups } = await ask({ runIds: [ids[2]!, ids[0]!], keys: ["acc", "loss"] }, call);
    expect(groups).toMatchObject([{ latest: [NaN, 1, 3, NaN], best: [NaN, 2, 1, NaN] }]);
  });

  test("of a run that is not visible are not found", async () => {
    expect(await failure(ask({ runIds: [ids[0]!, randomUUID()] }, call))).toMatchObject({ reason: "not_found" });
    expect(await failure(ask({ runIds: [ids[0]!] }, callAs()))).toMatchObject({ reason: "not_found" });
    const scoped = callAs({ orgId: call.orgId, projectId: randomUUID() });
    expect(await failure(ask({ runIds: [ids[0]!] }, scoped))).toMatchObject({ reason: "not_found" });
  });

  const uuids = (count: number) => Array.from({ length: count }, () => randomUUID() as string);
  test.each<[string, Ask, string]>([
    ["an unknown kind of column", { names: ["metrics.loss"] }, "by"],
    ["a kind without a path", { names: ["config."] }, "by"],
    ["tags that are left out", { names: ["tags"], allBut: true }, "by"],
    ["a name that is there twice", { names: ["tags", "tags"] }, "by"],
    ["21 names", { names: Array.from({ length: 21 }, (_, i) => `config.c${i}`) }, "by"],
    ["1,001 runs", { runIds: uuids(1001) }, "run_ids"],
    ["a run that is named twice", { runIds: Array(2).fill(randomUUID()) as string[] }, "run_ids"],
    ["a run without a UUID", { runIds: ["x"] }, "run_ids"],
  ])("are refused for %s", async (_what, request, field) => {
    expect(await failure(ask(request, call))).toMatchObject({ field });
  });
});

describe("bounds", () => {
  const bad = (field: string) => ({ reason: "bad_request", field });

  test("a filter lets at most 1,000 runs through, which are at most 200 groups", async () => {
    const call = callAs();
    const runs = Array.from({ length: 1000 }, (_, n) =>
      storedRun({ name: `r${n}`, config: `{"n":${n % GROUPS_MAX}}` }),
    );
    await storeRuns(fixture, call.orgId, runs);
    const { groups } = await ask({ names: ["config.n"] }, call);
    expect(groups.map(({ valuesJson, runIds }) => [valuesJson[0], runIds.length])).toEqual(
      Array.from({ length: GROUPS_MAX }, (_, n) => [String(n), 5]),
    );
    await asOwner(fixture, `UPDATE runs.runs SET config = '{"n":-1}' WHERE id = $1`, [runs[0]!.id]);
    expect(await failure(ask({ names: ["config.n"] }, call))).toMatchObject(bad("by"));
    await makeRun(fixture.client, call);
    expect(await failure(ask({ names: ["tags"] }, call))).toMatchObject(bad("filter"));
  });

  test("all keys of configs are no longer than those of columns", async () => {
    const call = callAs();
    const config = (key: string) => json(`{"x":{"${key}":{"a":1,"b":2}}}`);
    await makeRun(fixture.client, call, { configJson: config("k".repeat(508)) });
    expect((await ask({ allBut: true }, call)).columns).toHaveLength(2);
    await makeRun(fixture.client, call, { configJson: config("k".repeat(509)) });
    expect(await failure(ask({ allBut: true }, call))).toMatchObject(bad("by"));
    expect((await ask({ allBut: true, names: ["config.x"] }, call)).columns).toEqual([]);
  });

  test("all keys of configs are at most 1,000", async () => {
    const call = callAs();
    const config = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, n]));
    const { id } = await makeRun(fixture.client, call, { configJson: json(JSON.stringify(config)) });
    expect((await ask({ allBut: true }, call)).columns).toHaveLength(1000);
    await putAttributes(fixture, call.orgId, id, [["config/more", "1"]]);
    expect(await failure(ask({ allBut: true }, call))).toMatchObject(bad("by"));
    expect((await ask({ allBut: true, names: ["config.more"] }, call)).columns).toHaveLength(1000);
  });

  test("values to group by have at most 16 MiB", async () => {
    const call = callAs();
    const runs = Array.from({ length: 300 }, () => storedRun({ config: `{"text":"${"x".repeat(60_000)}"}` }));
    await storeRuns(fixture, call.orgId, runs);
    const few = runs.slice(0, 200).map(({ id }) => id);
    for (const request of [{ names: ["config.text"] }, { allBut: true }]) {
      expect(await failure(ask(request, call))).toMatchObject(bad("by"));
      expect((await ask({ ...request, runIds: few }, call)).groups).toHaveLength(1);
    }
  });

  test("runs have at most 32 MiB of configs, where these are looked at", async () => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call, { configJson: json("{}") });
    await asOwner(fixture, `UPDATE runs.runs SET config = '{"x":"' || repeat('x', 34000000) || '"}' WHERE id = $1`, [
      id,
    ]);
    expect(await failure(ask({ names: ["config.y"] }, call))).toMatchObject(bad("filter"));
    expect(await failure(ask({ names: ["config.y"], runIds: [id] }, call))).toMatchObject(bad("run_ids"));
    expect((await ask({ names: ["tags"] }, call)).groups).toHaveLength(1);
  });
});
