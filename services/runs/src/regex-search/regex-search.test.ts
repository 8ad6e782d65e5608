import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { RUN_SORTS } from "@tidemark/limits";
import { asOwner, callAs, failure, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { filterOf, found, summarize } from "../list/list-pages.fixture.ts";
import { move, projectIdOf, type Step } from "../list/stored-runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const call = callAs();
const OTTER = "Calm Otter 3";
const KELVIN = "\u{212A}elvin gla\u{17F}s";
const PLAIN = "plain";
const DRAFT = "draft re:/x and (";

const seeds: { name: string; project: string; tags?: string[]; config?: string; metadata?: string; steps?: Step[] }[] =
  [
    {
      name: OTTER,
      project: "Vision",
      tags: ["base line", "B2", "v1.0"],
      config: '{"lr":0.1,"path":"/data/set","seed":13}',
      metadata: '{"notes":"First line\\nsecond line","other":"hidden42"}',
      steps: [["running", "requested"]],
    },
    {
      name: KELVIN,
      project: "Speech",
      tags: ["\u{212A}2"],
      config: '{"unit":"\u{212A}"}',
      steps: [["failed", "completed"]],
    },
    { name: PLAIN, project: "speech-2", tags: ["vxx"], steps: [["finished", "none"]] },
    { name: DRAFT, project: "Speech" },
  ];
const ALL = seeds.map(({ name }) => name).toSorted();

beforeAll(async () => {
  await makeRun(fixture.client, callAs(), { name: "otter", project: "Vision", tags: ["b2"] });
  for (const { name, project, tags = [], config = "{}", metadata = "{}", steps = [] } of seeds) {
    const { id } = await makeRun(fixture.client, call, {
      name,
      project,
      tags,
      configJson: json(config),
      metadataJson: json(metadata),
    });
    await move(fixture, call.orgId, id, steps);
  }
});

describe("an expression", () => {
  test.each<readonly [what: string, q: string, names: readonly string[]]>([
    ["alone is found in the name", "re:/ot+er/", [OTTER]],
    ["alone is found in the config", 're:/"lr":0\\.1/', [OTTER]],
    ["alone is found in the metadata", "re:/hidden\\d+/", [OTTER]],
    ["alone is found across the parts of the summary", "re:/vision calm .* base/", [OTTER]],
    ["alone is not found across the texts", "re:/otter.*hidden/", []],
    ["ignores case", "re:/OTTER/", [OTTER]],
    ["of capital letters is met by small ones", "re:/[A-Z]tter/", [OTTER]],
    ["has no look-around to use", "re:/calm\\b/", [OTTER]],
    ["of a name", "name:re:/^calm otter \\d$/", [OTTER]],
    ["of a name is not found in the project", "name:re:/vision/", []],
    ["of a project", "project:re:/^speech$/", [DRAFT, KELVIN]],
    ["of a project finds every project that it is in", "project:re:/^speech/", [DRAFT, KELVIN, PLAIN]],
    ["of no project", "project:re:/^none$/", []],
    ["of one tag", "tag:re:/^b2$/", [OTTER]],
    ["of each tag by itself", "tag:re:/^v/", [OTTER, PLAIN]],
    ["of a tag is not found across tags", "tag:re:/line.*b2/", []],
    ["of a tag may be in its middle", "tags:re:/se l/", [OTTER]],
    ["of notes", "notes:re:/first.line/", [OTTER]],
    ["of notes: a dot does not match a line end", "notes:re:/line.second/", []],
    ["of notes: ends are those of the text", "notes:re:/^second/", []],
    ["of notes: unless it says otherwise", "notes:re:/(?m)^second line$/", [OTTER]],
    ["of the config", 'config:re:/^\\{"lr":/', [OTTER]],
    ["of the config is not found in the metadata", "config:re:/hidden/", []],
    ["of the metadata", 'metadata:re:/"other":"hidden.{2}"\\}$/', [OTTER]],
    ["with a slash", "config:re:/\\/data\\/set/", [OTTER]],
    ["of the status that is shown", "status:re:/^stop/", [KELVIN, OTTER]],
    ["of the status that is shown, not of the stored one", "status:re:/running/", [DRAFT]],
    ["of no status", "status:re:/x/", []],
    ["of all", "all:re:/otter/", [OTTER]],
    ["with the kelvin sign in the text", "name:re:/^kelvin/", [KELVIN]],
    ["with the long s in the text", "re:/glass/", [KELVIN]],
    ["with the kelvin sign in a tag", "tag:re:/^k2$/", [KELVIN]],
    ["with the kelvin sign in the config", 'config:re:/"unit":"k"/', [KELVIN]],
    ["with the kelvin sign in itself", "name:re:/plain|\u{212A}elvin/", [KELVIN, PLAIN]],
    ["with the long s in itself", "tag:re:/ba\u{17F}e/", [OTTER]],
    ["excluded", "-re:/otter/", [DRAFT, KELVIN, PLAIN]],
    ["excluded by NOT", "NOT tag:re:/./", [DRAFT]],
    ["excluded twice", "NOT -name:re:/^p/", [PLAIN]],
    ["excluded with the kelvin sign", "-name:re:/kelvin/", [DRAFT, OTTER, PLAIN]],
    ["excluded of a project", "-project:re:/^speech/", [OTTER]],
    ["excluded of a status", "-status:re:/^stop/", [DRAFT, PLAIN]],
    ["and a word", "re:/^v/ -tag:vxx", [OTTER]],
    ["and a tag", "tag:vxx re:/plai?n/", [PLAIN]],
    ["and a tag that has none of it", "tag:vxx re:/otter/", []],
    ["or a word", "tag:vxx OR re:/ot{2}er/", [OTTER, PLAIN]],
    ["or what is not", "-status:running OR name:re:/^draft/", ALL],
    ["in a group with others", "(name:re:/^c/ OR name:re:/^p/) -(tag:re:/x$/ status:finished)", [OTTER]],
    ["four of them", "re:/c/ re:/a/ re:/l/ re:/m/", [OTTER]],
    ["in quotes is text", '"draft re:/x"', [DRAFT]],
    ["that does not end is text", "re:/x", [DRAFT]],
    ["that does not end is text next to any other term", "draft re:/x AND (", [DRAFT]],
    ["without anything in it is text", "re://", []],
    ["in a word is text", "draftre:/x/", []],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });

  test("works with every order and filter, pages and totals", async () => {
    for (const sort of RUN_SORTS) {
      expect(await found(fixture, call, "-tag:re:/^v1/", { sort, project: "Speech" })).toEqual([DRAFT, KELVIN]);
      expect(await found(fixture, call, "-tag:re:/^v1/", { sort, status: "failed" })).toEqual([KELVIN]);
      expect(await found(fixture, call, "re:/e/", { sort, displayStatus: "stopping" })).toEqual([OTTER]);
      const first = await summarize(fixture, call, { q: "re:/speech/", sort, limit: 2 });
      expect(first).toMatchObject({ total: 3, ids: [expect.any(String), expect.any(String)] });
      const second = await summarize(fixture, call, { q: "re:/speech/", sort, limit: 2, cursor: first.nextCursor });
      expect(second).toMatchObject({ total: 3, nextCursor: "" });
      const whole = await summarize(fixture, call, { q: "re:/speech/", sort });
      expect([...first.ids, ...second.ids]).toEqual(whole.ids);
    }
  });

  test("counts in overviews", async () => {
    const overview = await fixture.client.getOverview({ filter: filterOf({ q: "re:/speech/" }), metricKey: "k" }, call);
    expect(overview).toMatchObject({
      totalRuns: 3n,
      activeRuns: 1n,
      failedRuns: 1n,
      stoppedRuns: 1n,
      metricPoints: 0n,
    });
    expect(overview.bestValue).toBeUndefined();
  });

  test("sees what its caller may see", async () => {
    const scoped = callAs({ orgId: call.orgId, projectId: await projectIdOf(fixture, call.orgId, "Speech") });
    expect(await found(fixture, scoped, "re:/./")).toEqual([DRAFT, KELVIN]);
    expect(await found(fixture, scoped, "project:re:/./")).toEqual([DRAFT, KELVIN]);
    expect(await found(fixture, scoped, "re:/./", { project: "Vision" })).toEqual([]);
    expect(await found(fixture, callAs(), "re:/./")).toEqual([]);
    expect(await found(fixture, callAs(), "-re:/x/")).toEqual([]);
  });

  test("finds a change immediately", async () => {
    const own = callAs();
    const { id } = await makeRun(fixture.client, own, { name: "fresh 17" });
    expect(await found(fixture, own, "name:re:/fresh \\d+/")).toEqual(["fresh 17"]);
    await fixture.client.updateRun({ runId: id, tags: { tags: ["t-99"] }, notes: "note 88" }, own);
    expect(await found(fixture, own, "tag:re:/^t-9+$/ notes:re:/e 8{2}$/")).toEqual(["fresh 17"]);
    await fixture.client.updateRun({ runId: id, status: "failed", tags: { tags: [] } }, own);
    expect(await found(fixture, own, "status:re:/^failed$/ -tag:re:/./")).toEqual(["fresh 17"]);
  });
});

describe("400 with its column is returned by the thread:", () => {
  test.each<readonly [what: string, q: string, position: number, text: string]>([
    ["an invalid expression", "otter re:/(/", 7, "invalid regular expression"],
    ["an invalid one of a field, at the field", "a tag:re:/[/", 3, "invalid regular expression"],
    ["an invalid excluded one", "-re:/+/", 2, "invalid regular expression"],
    ["look-ahead", "re:/(?=a)b/", 1, "invalid regular expression"],
    ["look-behind", "re:/(?<!a)b/", 1, "invalid regular expression"],
    ["a back-reference", String.raw`re:/(a)\1/`, 1, "invalid regular expression"],
    ["an expression that empty text matches", "a re:/x*/", 3, "regular expression matches empty text"],
    ["an anchor alone", "re:/^/", 1, "regular expression matches empty text"],
    ["one of two", "re:/a|/", 1, "regular expression matches empty text"],
    ["another fault next to an expression", "re:/a/ status:paused", 8, "unknown status"],
    ["in code points", "\u{3000}\u{1F600} re:/(/", 3, "invalid regular expression"],
  ])("%s", async (_what, q, position, text) => {
    for (const filter of [
      filterOf({ q }),
      filterOf({ q, project: "nowhere" }),
      filterOf({ q, projectId: randomUUID() }),
    ]) {
      const order = { sortBy: "created", metricKey: "k" };
      for (const ask of [
        () => fixture.client.listRuns({ filter, order, limit: 1 }, call),
        () => fixture.client.summarizeRuns({ filter, order, limit: 1 }, call),
        () => fixture.client.getOverview({ filter, metricKey: "k" }, call),
      ]) {
        expect(await failure(ask())).toMatchObject({
          reason: "run_search_invalid",
          field: "q",
          position,
          message: `Invalid run search: ${text} (column ${position}).`,
        });
      }
    }
  });

  test.each([
    ["128 bytes", `re:/${"a".repeat(128)}/`],
    ["128 bytes of long characters", `re:/${"é".repeat(64)}/`],
    ["one that matches only white space", "re:/ /"],
    ["one with a great number of repeats", "re:/a{250}/"],
  ])("not %s", async (_what, q) => {
    expect(await found(fixture, callAs(), q)).toEqual([]);
  });
});

describe("only so much text is searched", () => {
  const own = callAs();
  const KIB_32 = 32 * 1024;
  const MAX = 128 * 1024 * 1024;
  const COUNT = MAX / KIB_32;

  beforeAll(async () => {
    await makeRun(fixture.client, own, { name: "first" });
    await asOwner(fixture, "ALTER TABLE runs.runs DISABLE TRIGGER USER");
    await asOwner(
      fixture,
      `INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at)
       SELECT r.org_id, md5(n::text)::uuid, r.project_id, 'run ' || n, r.status, '{}', '{}', '{}', now(), now()
       FROM runs.runs r, generate_series(1, $2::int) n WHERE r.org_id = $1`,
      [own.orgId, COUNT],
    );
    await asOwner(fixture, "ALTER TABLE runs.runs ENABLE TRIGGER USER");
    // The index would be slow with this many texts, and is not needed here.
    await asOwner(fixture, "DROP INDEX runs.run_texts_words");
    await asOwner(
      fixture,
      `INSERT INTO runs.run_texts (org_id, run_id, project_id, created_at, status, display_status, irregular, name, tags,
                                   notes, summary, config, metadata)
       SELECT r.org_id, r.id, r.project_id, r.created_at, r.status, r.display_status, false, r.name,
              CASE WHEN r.name LIKE 'run 1__' THEN ARRAY['few'] ELSE '{}' END, '', r.name, texts.config, '{}'
       FROM runs.runs r, (SELECT repeat('x', $2::int) AS config) texts
       WHERE r.org_id = $1 AND r.name <> 'first'`,
      [own.orgId, KIB_32],
    );
  });

  const total = async (q: string): Promise<number> => (await summarize(fixture, own, { q, limit: 1 })).total;

  test("128 MiB are", async () => {
    // All texts but the config of the first run.
    expect(await total("config:re:/^y/ -name:first")).toBe(0);
  });

  test.each(["config:re:/^y/", "config:re:/^y/ OR notes:re:/^y/", "-config:re:/^x/", "re:/^y/ -name:first"])(
    "more than 128 MiB is 400 that says so: %s",
    async (q) => {
      const refused = {
        reason: "run_search_too_broad",
        field: "q",
        position: undefined,
        message: expect.stringContaining("128 MiB"),
      };
      expect(await failure(summarize(fixture, own, { q }))).toMatchObject(refused);
      expect(await failure(fixture.client.getOverview({ filter: { q }, metricKey: "k" }, own))).toMatchObject(refused);
    },
  );

  test("only runs that match the other terms count", async () => {
    expect(await total("tag:few config:re:/^x+$/")).toBe(100);
    expect(await total("name:re:/^run 1..$/")).toBe(100);
    expect(await total("tag:few config:re:/y/")).toBe(0);
    expect(await total("config:re:/y/ id:c4ca4238")).toBe(0);
  });

  test("only runs that match the literals of the expression count", async () => {
    expect(await total("config:re:/nowhere [0-9]/")).toBe(0);
  });
});
