import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { found } from "../list/list-pages.fixture.ts";
import { move, storeRuns, storedRun } from "../list/stored-runs.fixture.ts";
import { callAs, failure, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { cancelWaiting, whileTextsAreLocked } from "./locked-texts.fixture.ts";

// Tests which part of the texts of a run is searched, and from when on.
let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

describe("only the first 32 KiB of a text are searched", () => {
  const own = callAs();
  const END = 32_768;
  // One byte per character except for the characters around the end.
  const until = (bytes: number, tail: string, before = ""): string =>
    before + "x".repeat(bytes - Buffer.byteLength(before) - Buffer.byteLength(tail)) + tail;
  const document = (bytes: number, tail: string): string => `${until(bytes, tail, '{"a":"')}end"}`;
  const notes = (bytes: number, tail: string, a = ""): string =>
    JSON.stringify({ a, notes: `${until(bytes, tail)}end` });

  const runs = [
    storedRun({ name: "config in", config: document(END, "needle") }),
    storedRun({ name: "config out", config: document(END + 1, "needle") }),
    storedRun({ name: "metadata in", metadata: document(END, "needle") }),
    storedRun({ name: "metadata out", metadata: document(END + 1, "needle") }),
    storedRun({ name: "notes in", metadata: notes(END, "remark") }),
    storedRun({ name: "notes out", metadata: notes(END + 1, "remark") }),
    storedRun({ name: "two bytes in", config: document(END, "é") }),
    storedRun({ name: "two bytes cut", config: document(END + 1, "é") }),
    storedRun({ name: "three bytes in", config: document(END, "\u{20AC}") }),
    storedRun({ name: "three bytes cut", config: document(END + 2, "\u{20AC}") }),
    storedRun({ name: "four bytes in", config: document(END, "\u{1F600}") }),
    storedRun({ name: "four bytes cut", config: document(END + 3, "\u{1F600}") }),
  ];
  // "p " and the name come first in the summary.
  const inSummary = END - Buffer.byteLength("p summary in ");
  const far = "y".repeat(100);
  const summaries = [
    storedRun({ name: "summary in", metadata: notes(inSummary, "signal", far) }),
    storedRun({ name: "summary out", metadata: notes(inSummary, "signal", far) }),
  ];

  beforeAll(() => storeRuns(fixture, own.orgId, [...runs, ...summaries]));

  test.each([
    ["config:needle", ["config in"]],
    ["config:needl", ["config in", "config out"]],
    ["config:needlee", []],
    ["needle", ["config in", "metadata in"]],
    ["metadata:needle", ["metadata in"]],
    ["notes:remark", ["notes in"]],
    ["notes:remar", ["notes in", "notes out"]],
    ["metadata:remark", []],
    ["remark", []],
    ["config:é", ["two bytes in"]],
    ["config:\u{20AC}", ["three bytes in"]],
    ["config:\u{1F600}", ["four bytes in"]],
    ["config:\u{FFFD}", []],
    ["signal", ["summary in"]],
    ["notes:signal", ["summary in", "summary out"]],
    ["status:running -config:end -metadata:end name:config", ["config in", "config out"]],
  ])("%s", async (q, names) => {
    expect(await found(fixture, own, q)).toEqual(names);
  });

  test("of tags those that end within, joined by spaces, each whole", async () => {
    const third = callAs();
    const long = Array.from({ length: 63 }, () => "t".repeat(511));
    await storeRuns(fixture, third.orgId, [
      storedRun({ name: "whole", tags: [...long, "t".repeat(505), "fitted", "after"] }),
      storedRun({ name: "cut", tags: [...long, "t".repeat(506), "fitted", "after"] }),
    ]);
    expect(await found(fixture, third, "tag:fitted")).toEqual(["whole"]);
    expect(await found(fixture, third, "tag:fitte OR tag:after OR tag:fi")).toEqual([]);
  });
});

describe("documents with what no database text can hold", () => {
  const own = callAs();
  beforeAll(async () => {
    const documents = [
      ["nul", '{"notes":"a\\u0000b","comment":"end"}'],
      ["half", '{"notes":"c\\ud800d","comment":"end"}'],
      ["pair", '{"notes":"e\\ud83d\\ude00f"}'],
      ["escaped", '{"notes":"g\\\\u0000h"}'],
    ] as const;
    for (const [name, document] of documents) {
      await makeRun(fixture.client, own, { name, metadataJson: json(document), configJson: json(document) });
    }
  });

  test.each([
    ["NUL in notes is U+FFFD", "notes:a\u{FFFD}b", ["nul"]],
    ["half of a surrogate pair is, too", "notes:c\u{FFFD}d", ["half"]],
    ["what comes after it is found", "notes:end", ["half", "nul"]],
    ["a whole pair is its character", "notes:e\u{1F600}f", ["pair"]],
    ["what only looks like an escape stays", String.raw`notes:g\u0000h`, ["escaped"]],
    ["in the metadata they are escapes", String.raw`metadata:a\u0000b`, ["nul"]],
    ["in the config as well", String.raw`config:c\ud800d`, ["half"]],
    ["a pair is a character there", "config:e\u{1F600}f", ["pair"]],
    ["a backslash is two", String.raw`config:g\\u0000h`, ["escaped"]],
  ])("%s", async (_what, q, names) => {
    expect(await found(fixture, own, q)).toEqual(names);
  });
});

describe("a change is found immediately", () => {
  test("of tags, notes and status, and what was before is not", async () => {
    const own = callAs();
    const { id } = await makeRun(fixture.client, own, {
      name: "n",
      tags: ["old"],
      metadataJson: json('{"notes":"before","k":"kept"}'),
    });
    expect(await found(fixture, own, "tag:old notes:before status:running")).toEqual(["n"]);
    await fixture.client.updateRun({ runId: id, tags: { tags: ["New"] } }, own);
    expect(await found(fixture, own, "tag:new notes:before")).toEqual(["n"]);
    expect(await found(fixture, own, "tag:old OR old")).toEqual([]);
    await fixture.client.updateRun({ runId: id, notes: "After" }, own);
    expect(await found(fixture, own, 'notes:after after metadata:"\\"after\\"" metadata:kept')).toEqual(["n"]);
    expect(await found(fixture, own, "before")).toEqual([]);
    await fixture.client.updateRun({ runId: id, notes: "" }, own);
    expect(await found(fixture, own, "after OR metadata:notes")).toEqual([]);
    await fixture.client.updateRun({ runId: id, status: "failed" }, own);
    expect(await found(fixture, own, "status:failed failed -running")).toEqual([]);
    expect(await found(fixture, own, "status:failed failed NOT running")).toEqual(["n"]);
    await move(fixture, own.orgId, id, [["failed", "completed"]]);
    expect(await found(fixture, own, "status:stopped failed stopped")).toEqual(["n"]);
    await fixture.client.createRun({ id, mode: "resume" }, own);
    expect(await found(fixture, own, "status:running running NOT stopped NOT failed")).toEqual(["n"]);
    await fixture.client.updateRun({ runId: id, tags: { tags: [] } }, own);
    expect(await found(fixture, own, "tag:new OR new")).toEqual([]);
  });

  test("of a new run, and of a new project's name", async () => {
    const own = callAs();
    expect(await found(fixture, own, "project:fresh")).toEqual([]);
    await makeRun(fixture.client, own, { name: "n", project: "Fresh" });
    expect(await found(fixture, own, "project:fresh")).toEqual(["n"]);
    expect(await found(fixture, own, "fresh")).toEqual(["n"]);
  });

  test("of a run that was forked", async () => {
    const own = callAs();
    const { id } = await makeRun(fixture.client, own, { name: "parent", configJson: json('{"lr":0.5}') });
    await fixture.client.forkRun({ runId: id, notes: "from there", configOverridesJson: json('{"lr":0.25}') }, own);
    expect(await found(fixture, own, "tag:forked config:0.25 notes:there metadata:lineage")).toEqual([
      "fork-of-parent",
    ]);
  });
});

test("a search that takes too long is 400, and nothing that does not search waits for it", async () => {
  const own = callAs();
  await makeRun(fixture.client, own, { name: "n" });
  await whileTextsAreLocked(fixture, async () => {
    const searching = failure(found(fixture, own, "tag:x"));
    await cancelWaiting(fixture, "runs-test");
    expect(await searching).toMatchObject({ reason: "run_search_too_broad", field: "q" });
    expect(await found(fixture, own, "")).toEqual(["n"]);
  });
  expect(await found(fixture, own, "n")).toEqual(["n"]);
});
