import { expect, test } from "@jest/globals";
import type { KnownKeys } from "./near-column.ts";
import { queryNotes } from "./query-notes.ts";

const known: KnownKeys = {
  isAll: true,
  keys: [
    { kind: "config", name: "lr" },
    { kind: "config", name: "optimizer.name" },
    { kind: "metric", name: "val/loss" },
    { kind: "attribute", name: "config/batch_size" },
  ],
};
const offers = (query: string): readonly (string | undefined)[] => queryNotes(query, known).map(({ offer }) => offer);

test.each([
  ["(tag:a", "A ( is not closed.", "(tag:a)"],
  ["(tag:a OR", "OR needs something after it.", "(tag:a)"],
  ["tag:x AND", "AND needs something after it.", "tag:x"],
  ["OR tag:x", "OR needs something before it.", undefined],
  ["tag:x)", "A ) has no ( before it.", "tag:x"],
  ["tag:x ()", "There is nothing to search for before a ).", "tag:x"],
  ['name:"a b', "A quote is not closed.", 'name:"a b"'],
  ["(re:/a", "A regular expression needs a pattern and a closing /.", "(re:/a/)"],
  ["tag:", "tag: needs a value directly after it.", undefined],
  ["id:ab", "id: needs at least 4 characters.", undefined],
])("the incomplete query %s is taken as text", (query, why, offer) => {
  expect(queryNotes(query, known)).toEqual([
    { text: `${why} Until then, the whole search is treated as text.`, offer },
  ]);
});

test.each([
  ["foo:bar", undefined],
  ["tagg:bar", "tag:bar"],
  ["-Name:x", "-name:x"],
  ["lr:0.1", "config.lr=0.1"],
  ["batch_size:64", "config.batch_size=64"],
  ["lr<0.1 tag:a", "config.lr<0.1 tag:a"],
  ["val/loss.best<2", "metrics.val/loss.best<2"],
  ["config.optimizer.name=adam", 'config.optimizer.name="adam"'],
  ["metric.val/loss<2", "metrics.val/loss<2"],
  ["a config.lr < 0.1 b", "a config.lr<0.1 b"],
  ["config.lr<", undefined],
  ["config.lr", undefined],
  ["re:abc", "re:/abc/"],
])("the word of %s that is searched as text is named, and what was likely meant is offered", (query, offer) => {
  const [note, ...more] = queryNotes(query, known);
  expect(note?.text).toContain("is searched as text.");
  expect(note?.offer).toBe(offer);
  expect(more).toEqual([]);
});

test.each([
  ["metrics.val/loss.bestest<2", "No run has the metric “val/loss.bestest”.", "metrics.val/loss.best<2"],
  ["-metrics.vall/loss<2", "No run has the metric “vall/loss”.", "-metrics.val/loss<2"],
  ['config.optimiser.name="adam"', "No run has the config key “optimiser.name”.", 'config.optimizer.name="adam"'],
  ["config.val/loss<2", "No run has the config key “val/loss”.", "metrics.val/loss<2"],
  ["config.zzz=1", "No run has the config key “zzz”.", undefined],
])("the key of %s is looked for, and the nearest is offered", (query, text, offer) => {
  expect(queryNotes(query, known)).toEqual([{ text, offer }]);
  expect(queryNotes(query, { ...known, isAll: false })).toEqual([]);
});

test("a mistyped status has a nearest one", () => {
  expect(queryNotes("status:runing a", known)).toEqual([
    { text: "“runing” is not a status.", offer: "status:running a" },
  ]);
});

test("what is read as it was meant is not mentioned", () => {
  for (const query of [
    "",
    "resnet",
    "-1",
    "tag:a (name:b OR status:failed)",
    "https://a.b:80/c",
    "config.lr<=0.1",
    'config.optimizer="adam"',
    "config.batch_size=64",
    "metrics.val/loss<2",
    "re:/a/ -tag:b",
    '"foo:bar"',
  ])
    expect(offers(query)).toEqual([]);
});
