import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { found, summarize, type Request } from "../list/list-pages.fixture.ts";
import { RUN_SORTS } from "../list/run-list.rules.ts";
import { move, projectIdOf, storeRuns, storedRun, type Step } from "../list/stored-runs.fixture.ts";
import { putValues } from "../metrics/aggregates.fixture.ts";
import { callAs, failure, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const call = callAs();
const OTTER = "Calm Otter 3";
const DONE = String.raw`100%_done\ok`;
const KELVIN = "\u{212A}elvin \u{17F}";
const DRAFT = 'tag: (draft" AND';
const PLAIN = "plain";
const LISTS = "lists";

type Seed = {
  name: string;
  id: string;
  project: string;
  tags?: string[];
  config?: string;
  metadata?: string;
  steps?: Step[];
};
const seeds: Seed[] = [
  {
    name: OTTER,
    id: "aaaa0001-0000-4000-8000-00000000000a",
    project: "Vision",
    tags: ["base line", "B", "É"],
    config: '{"seed":13,"lr":0.10,"opt":{"name":"Adam","betas":[0.9,0.999]}}',
    metadata:
      '{"notes":"First: \\"x\\"","note":"Nextly","description":"Desc","summary":"Summ","comment":"Last","other":"hidden","z":{"note":"Deep"}}',
    steps: [["running", "requested"]],
  },
  {
    name: DONE,
    id: "aaaa0002-0000-4000-8000-00000000000b",
    project: "p_1",
    tags: ["x", "tag with spaces", "b2", "x"],
    config: '{"path":"C:\\\\tmp\\n","rate":"5%"}',
    steps: [["finished", "none"]],
  },
  {
    name: KELVIN,
    id: "bbbb0003-0000-4000-8000-00000000000c",
    project: "Speech",
    tags: ["Ünïcode \u{1F600}"],
    steps: [["failed", "completed"]],
  },
  { name: DRAFT, id: "cccc0004-0000-4000-8000-00000000000d", project: "Speech", steps: [["finished", "completed"]] },
  { name: PLAIN, id: "dddd0005-0000-4000-8000-00000000000e", project: "default" },
  {
    name: LISTS,
    id: "dddd0006-0000-4000-8000-00000000000f",
    project: "default",
    config: '{"notes":"not these"}',
    metadata:
      '{"notes":7,"note":null,"description":["seven"],"summary":{"a":"eight"},"comment":true,"Notes":"capital"}',
    steps: [["failed", "terminal_without_completion"]],
  },
];
const ALL = seeds.map(({ name }) => name).toSorted();
const others = (...names: string[]): string[] => ALL.filter((name) => !names.includes(name));

beforeAll(async () => {
  const stranger = callAs();
  await makeRun(fixture.client, stranger, { name: "otter", project: "Vision", tags: ["b", "x"] });
  for (const { name, id, project, tags = [], config = "{}", metadata = "{}", steps = [] } of seeds) {
    await makeRun(fixture.client, call, {
      id,
      name,
      project,
      tags,
      configJson: json(config),
      metadataJson: json(metadata),
    });
    await move(fixture, call.orgId, id, steps);
  }
});

type Row = readonly [what: string, q: string, names: readonly string[]];

describe("a word", () => {
  test.each<Row>([
    ["is found in the name", "otter", [OTTER]],
    ["is found whatever its case", "oTTeR", [OTTER]],
    ["is found within a word", "tte", [OTTER]],
    ["is found in the project", "vision", [OTTER]],
    ["is found in a tag", "line", [OTTER]],
    ["is found in the notes", "nextly", [OTTER]],
    ["is found in the config", "adam", [OTTER]],
    ["is found in the metadata", "hidden", [OTTER]],
    ["is found in the id", "0002-0000-4000", [DONE]],
    ["is found in the stored status", "finished", [DONE, DRAFT]],
    ["is found in the stored status of a stopping run", "running", [OTTER, PLAIN]],
    ["is found in the status that is shown", "stopping", [OTTER]],
    ["is found in both", "stopped", [DRAFT, KELVIN]],
    ["is not found across the summary's parts", "visioncalm", []],
    ["is found in all: too", "all:adam", [OTTER]],
    ["that begins with a minus is text", "-otter", []],
    ["that is a negative number is text", "-1", []],
    ["that begins with a minus is found where it stands", "-4000", others()],
    ["with a quote inside is text", 'seed":13', [OTTER]],
    ["with an unknown field is text", "foo:bar", []],
    ["with a field in capitals is text", "Tag:x", []],
    ["of lower case that could be an operator is text", "and", [DRAFT]],
    ["with every other: all must occur", "otter adam vision", [OTTER]],
    ["with another that does not occur finds nothing", "otter plain", []],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });
});

describe("a phrase", () => {
  test.each<Row>([
    ["is found across the parts of the summary", '"vision calm otter 3 base line b É first"', [OTTER]],
    [
      "is found up to the status that is shown",
      '"last running aaaa0001-0000-4000-8000-00000000000a stopping"',
      [OTTER],
    ],
    ["is found without parts that a run has not", '"default plain running dddd0005"', [PLAIN]],
    ["is not found across two texts", '"00a stopping {"', []],
    ["keeps its spaces", '"calm  otter"', []],
    ["keeps those at its ends", '" otter "', [OTTER]],
    ["may hold a quote", String.raw`"\"seed\":13"`, [OTTER]],
    ["may hold a backslash", String.raw`"done\\ok"`, [DONE]],
    ["leaves other backslashes alone", String.raw`"done\ok"`, [DONE]],
    ["may hold operators", '"draft"', [DRAFT]],
    ["may hold parentheses", '"(draft"', [DRAFT]],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });
});

describe("a field", () => {
  test.each<Row>([
    ["name is found in the name", "name:OTTER", [OTTER]],
    ["name is not found in the project", "name:vision", []],
    ["name takes a phrase", 'name:"calm otter"', [OTTER]],
    ["project is found in the project", "project:visi", [OTTER]],
    ["project is found in any of them", "project:e", [DRAFT, KELVIN, LISTS, PLAIN]],
    ["project is not found in the name", "project:otter", []],
    ["project of another organization finds nothing of it", "project:vision -project:vision", []],
    ["notes is metadata.notes", 'notes:"first: \\"x\\""', [OTTER]],
    ["notes is metadata.note", "notes:nextly", [OTTER]],
    ["notes is metadata.description", "notes:desc", [OTTER]],
    ["notes is metadata.summary", "notes:summ", [OTTER]],
    ["notes is metadata.comment", "notes:last", [OTTER]],
    ["notes are joined by spaces in this order", 'notes:"\\"x\\" nextly desc summ last"', [OTTER]],
    ["notes are no other member", "notes:hidden", []],
    ["notes are no member of a member", "notes:deep", []],
    ["notes are no member of the config", "notes:these", []],
    ["notes are no numbers", "notes:7", []],
    ["notes are no lists", "notes:seven", []],
    ["notes are no objects", "notes:eight", []],
    ["notes are no booleans", "notes:true", []],
    ["notes are named in lower case", "notes:capital", []],
    [
      "config is compact JSON, keys sorted",
      String.raw`config:"{\"lr\":0.10,\"opt\":{\"betas\":[0.9,0.999],\"name\":\"adam\"},\"seed\":13}"`,
      [OTTER],
    ],
    ["config keeps the digits of numbers", "config:0.10", [OTTER]],
    ["config holds escapes as JSON writes them", String.raw`config:c:\\tmp\n`, [DONE]],
    ["config is not the metadata", "config:hidden", []],
    [
      "metadata is compact JSON, keys sorted",
      String.raw`metadata:"\"last\",\"description\":\"desc\",\"note\""`,
      [OTTER],
    ],
    ["metadata is not the config", "metadata:adam", []],
    ["tag is a whole tag", "tag:b", [OTTER]],
    ["tag is any of them", "tag:x", [DONE]],
    ["tag is no part of a tag", "tag:line", []],
    ["tag is no beginning of a tag", 'tag:"tag with"', []],
    ["tag takes a phrase", 'tag:"Base Line"', [OTTER]],
    ["tags says the same", 'tags:"tag with spaces"', [DONE]],
    ["tag keeps the spaces of a phrase", 'tag:" b"', []],
    ["tag takes one word", "tag:base line", []],
    ["tag has its letters beyond ASCII as they are", "tag:É", [OTTER]],
    ["tag has them not in another case", "tag:é", []],
    ["status is the one that is shown: running", "status:running", [PLAIN]],
    ["status is the one that is shown: stopping", "status:stopping", [OTTER]],
    ["status is the one that is shown: stopped", "status:stopped", [DRAFT, KELVIN]],
    ["status is the one that is shown: finished", "status:finished", [DONE]],
    ["status is the one that is shown: failed", "status:failed", [LISTS]],
    ["status takes a phrase", 'status:"failed"', [LISTS]],
    ["id is a beginning", "id:aaaa", [DONE, OTTER]],
    ["id is whatever the case", "id:AAAA0001", [OTTER]],
    ["id is a beginning with hyphens", "id:aaaa0002-0000-4", [DONE]],
    ["id ends at a hyphen", "id:aaaa0002-", [DONE]],
    ["id is all of it", "id:bbbb0003-0000-4000-8000-00000000000c", [KELVIN]],
    ["id is no middle", "id:0000", []],
    ["id longer than one finds nothing", "id:bbbb0003-0000-4000-8000-00000000000c0", []],
    ["id that is none finds nothing", "id:zzzz", []],
    ["id of four bytes that are two letters finds nothing", "id:éé", []],
    ["id takes a phrase", 'id:"dddd"', [LISTS, PLAIN]],
    ["id with a wildcard finds nothing", "id:dddd%", []],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });
});

describe("LIKE's wildcards are text", () => {
  test.each<Row>([
    ["a percent sign", "%", [DONE]],
    ["an underscore", "_", [DONE]],
    ["a backslash", String.raw`\o`, [DONE]],
    ["all of them", String.raw`name:100%_done\ok`, [DONE]],
    ["a percent sign is no gap", "cal%otter", []],
    ["an underscore is no letter", "o_ter", []],
    ["an escaped percent sign is two characters", String.raw`100\%`, []],
    ["in the project", "project:_", [DONE]],
    ["in the config", "config:5%", [DONE]],
    ["in a tag", "tag:%", []],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });
});

describe("beyond ASCII", () => {
  test.each<Row>([
    ["a letter is found as it is", "É", [OTTER]],
    ["a letter is not found in another case", "é", []],
    ["the kelvin sign is no k", "kelvin", []],
    ["the kelvin sign is one", "\u{212A}elvin", [KELVIN]],
    ["the long s is one", "name:\u{17F}", [KELVIN]],
    ["a character of four bytes", "\u{1F600}", [KELVIN]],
    ["a tag of such characters", 'tag:"Ünïcode \u{1F600}"', [KELVIN]],
    ["its ASCII letters have no case", 'tag:"ÜNïCODE \u{1F600}"', [KELVIN]],
    ["another white space separates words", "otter\u{3000}vision", [OTTER]],
    ["one around the query does not count", "\u{3000}otter\u{85}", [OTTER]],
    ["a text that no database holds finds nothing", "name:\u{D800}", []],
    ["and excluded finds everything", "-name:\u{D800}", others()],
    ["NUL finds nothing", "a\0b", []],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });
});

describe("operators", () => {
  test.each<Row>([
    ["a minus excludes a field", "-tag:b", others(OTTER)],
    ["NOT excludes a word", "NOT otter", others(OTTER)],
    ["NOT excludes a phrase", 'NOT "calm otter"', others(OTTER)],
    ["a minus excludes a group", "-(otter OR id:dddd)", others(OTTER, LISTS, PLAIN)],
    ["what is excluded twice is not", "NOT -tag:b", [OTTER]],
    ["OR finds either", "otter OR name:plain", [OTTER, PLAIN]],
    ["AND says what nothing says", "tag:b AND tag:É tag:B", [OTTER]],
    ["AND binds tighter than OR", "name:plain OR tag:b tag:x", [PLAIN]],
    ["parentheses bind tightest", "(name:plain OR tag:b) tag:x", []],
    ["NOT binds tighter than AND", "NOT status:stopped id:cccc OR name:lists", [LISTS]],
    ["one excludes of what another finds", "finished -status:finished", [DRAFT]],
    ["the same may be asked twice", "otter otter", [OTTER]],
    ["a run is what it is not", "tag:b -tag:b", []],
    ["nothing is excluded", "-name:nowhere", others()],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });
});

describe("what is still being typed is searched as text", () => {
  test.each<Row>([
    ["a field without a value", "tag:", [DRAFT]],
    ["a field before a space", "tag: (draft", [DRAFT]],
    ["a field before a parenthesis", "name:(plain)", []],
    ["a parenthesis that does not close", "(draft", [DRAFT]],
    ["a parenthesis that did not open", "otter)", []],
    ["nothing in parentheses", "otter ()", []],
    ["a quote that does not close", 'draft" AND "', [DRAFT]],
    ["an operator at the end", "draft AND", [DRAFT]],
    ["an operator at the beginning", "AND tag:", [DRAFT]],
    ["an operator alone", "AND", [DRAFT]],
    ["NOT alone, which is in the metadata", "NOT", [OTTER, LISTS]],
    ["OR at the end", "plain OR", []],
    ["an id of three bytes", "id:aaa", []],
    ["a status not yet begun", "status:", []],
    ["what would be invalid if it were whole", 'status:bad ""(', []],
    ["more pieces than there may be terms", `(${" a".repeat(40)} draft`, [DRAFT]],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });
});

describe("blank", () => {
  test.each([
    ["nothing", ""],
    ["spaces", "   "],
    ["other white space", "\u{3000}\t\n\u{85}"],
  ])("%s finds everything", async (_what, q) => {
    expect(await found(fixture, call, q)).toEqual(ALL);
  });
});

describe("a search with filters and orders", () => {
  test.each<readonly [what: string, request: Request, q: string, names: readonly string[]]>([
    ["a project", { project: "Speech" }, "-tag:x", [DRAFT, KELVIN]],
    ["a project that there is not", { project: "speech" }, "-tag:x", []],
    ["a stored status", { status: "failed" }, "-tag:x", [KELVIN, LISTS]],
    ["a status shown", { displayStatus: "stopped" }, "-tag:x", [DRAFT, KELVIN]],
    ["both", { status: "failed", displayStatus: "stopped" }, "-tag:x", [KELVIN]],
    ["all of them", { status: "failed", displayStatus: "stopped", project: "Speech" }, "\u{212A}", [KELVIN]],
    ["those that exclude it", { status: "running" }, "status:stopped", []],
  ])("%s", async (_what, request, q, names) => {
    for (const sort of RUN_SORTS)
      expect(await found(fixture, call, q, { ...request, sort })).toEqual([...names].toSorted());
  });

  test("comes in every order", async () => {
    const own = callAs();
    const runs = (["b", "a", "c"] as const).map((name, n) =>
      storedRun({
        name,
        tags: ["t"],
        status: n === 0 ? "running" : "finished",
        took: n,
        createdAt: `2026-01-0${n + 1}T00:00:00Z`,
      }),
    );
    await storeRuns(fixture, own.orgId, [...runs, storedRun({ name: "other" })]);
    await putValues(fixture, own.orgId, runs[0]!.id, { score: 2 });
    await putValues(fixture, own.orgId, runs[2]!.id, { score: 3 });
    const expected = {
      created: "cab",
      name: "abc",
      status: "acb",
      duration: "cab",
      "metric-latest": "cba",
      "metric-best": "cba",
    };
    for (const sort of RUN_SORTS) {
      const { runs: rows } = await summarize(fixture, own, { sort, metricKey: "score", q: "tag:t" });
      expect([sort, rows.map(({ run }) => run?.name).join("")]).toEqual([sort, expected[sort]]);
    }
  });

  test("sees a project-scoped key's own project only", async () => {
    const scoped = callAs({ orgId: call.orgId, projectId: await projectIdOf(fixture, call.orgId, "default") });
    expect(await found(fixture, scoped, "-tag:x")).toEqual([LISTS, PLAIN]);
    expect(await found(fixture, scoped, "otter")).toEqual([]);
    expect(await found(fixture, scoped, "project:vision")).toEqual([]);
    expect(await found(fixture, scoped, "-project:vision")).toEqual([LISTS, PLAIN]);
    expect(await found(fixture, scoped, "id:aaaa OR id:dddd")).toEqual([LISTS, PLAIN]);
    expect(await found(fixture, scoped, "-tag:x", { project: "Vision" })).toEqual([]);
  });

  test("sees its own organization only", async () => {
    const other = callAs();
    for (const q of [
      "otter",
      "tag:x",
      "-tag:nothing",
      "project:vision",
      "-project:nothing",
      "id:aaaa",
      "status:running",
    ]) {
      expect(await found(fixture, other, q)).toEqual([]);
    }
  });
});

describe("400 with its column", () => {
  const many = (piece: string, times: number): string => Array.from({ length: times }, () => piece).join(" ");
  test.each<readonly [what: string, q: string, position: number]>([
    ["513 bytes", "a".repeat(513), 1],
    ["33 terms", many("a", 33), 1],
    ["65 nodes", many("NOT a", 32), 1],
    ["9 levels", `x ${"(".repeat(9)}a${")".repeat(9)}`, 1],
    ["an empty phrase", 'otter ""', 7],
    ["an empty phrase of a field", 'otter name:" "', 7],
    ["an unknown status", "status:paused", 1],
    ["an unknown status in quotes", 'a OR status:"Running"', 6],
    ["an unknown status after a minus", "(a -status:bad)", 5],
    ["in code points of the trimmed query", "\u{3000} \u{1F600}\u{1F600} status:bad", 4],
  ])("%s", async (_what, q, position) => {
    const filter = { q };
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
        message: expect.stringMatching(new RegExp(`^Invalid run search: .* \\(column ${position}\\)\\.$`)),
      });
    }
  });
});

test("SQL in a search is text", async () => {
  for (const q of ["'; DROP TABLE runs.runs; --", "tag:' OR '1'='1", 'name:"$1"', "id:' OR", "project:'"]) {
    expect(await found(fixture, call, q)).toEqual([]);
  }
  expect(await found(fixture, call, "")).toEqual(ALL);
});
