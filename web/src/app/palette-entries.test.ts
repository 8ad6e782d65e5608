import { expect, test } from "@jest/globals";
import {
  actionEntries,
  pageEntries,
  projectEntries,
  projectPageEntries,
  rankEntries,
  runEntries,
} from "./palette-entries.ts";

const entries = projectEntries(
  ["vision", "speech", "speech to text", "old speech"].map((name) => ({ id: name, name })),
);
const found = (text: string): readonly string[] => rankEntries(entries, text).map(({ label }) => label);

test("what begins with the text comes first", () => {
  expect(found("SPEECH")).toEqual(["speech", "speech to text", "old speech"]);
});

test("all words must be there", () => {
  expect(found("text spe")).toEqual(["speech to text"]);
  expect(found("nothing")).toEqual([]);
});

test("without a text the first ones are shown", () => {
  expect(found("  ")).toEqual(["vision", "speech", "speech to text", "old speech"]);
});

test("projects, runs and pages lead to their addresses", () => {
  expect(entries[2]?.address).toBe("/p/speech%20to%20text");
  expect(runEntries([{ id: "1", name: "", project: "p" }])).toMatchObject([
    { label: "1", address: "/p/p/r/1", kind: "Run in p" },
  ]);
  expect(
    actionEntries(() => undefined).every(({ address, run }) => (address === undefined) !== (run === undefined)),
  ).toBe(true);
});

test("the pages of a project are found by their names", () => {
  const [entry, ...more] = rankEntries(projectPageEntries("a b"), "artifacts");
  expect([entry?.label, entry?.address, more]).toEqual(["Artifacts", "/p/a%20b/artifacts", []]);
  expect(projectPageEntries("a b")[0]?.address).toBe("/p/a%20b");
});

test("what can be done on the page is found by any of its words, and done", () => {
  const done: string[] = [];
  const entriesOf = pageEntries(
    ["Stop 2 selected runs…", "Compare 2 selected runs"].map((label) => ({
      label,
      icon: "stop" as const,
      run: () => done.push(label),
    })),
  );
  const [entry, ...more] = rankEntries([...entriesOf, ...actionEntries(() => undefined)], "selected stop");
  entry?.run?.();
  expect(done).toEqual(["Stop 2 selected runs…"]);
  expect(more).toEqual([]);
});

test("a theme is chosen by its name", () => {
  const chosen: string[] = [];
  rankEntries(
    actionEntries((theme) => chosen.push(theme)),
    "theme light",
  )[0]?.run?.();
  expect(chosen).toEqual(["light"]);
});
