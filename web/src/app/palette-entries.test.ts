import { expect, test } from "@jest/globals";
import { actionEntries, projectEntries, rankEntries, runEntries } from "./palette-entries.ts";

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
