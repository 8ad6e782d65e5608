import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { parseSearch } from "./parse-search.rules.ts";
import { matches, type SearchedRun } from "./search-evaluator.fixture.ts";
import { searchText, searchedRun } from "./searched-runs.fixture.ts";

const pattern = (source: string) => new RegExp(source, "iu");
const checkRegex = (source: string) => (pattern(source).test("") ? "matches_empty" : "ok");

const fixed = { seed: 4, numRuns: 400 };
const runs = fc.sample(searchedRun, fixed);
const few = fc.array(searchedRun, { minLength: 1, maxLength: 4, size: "max" });
const fewWithText = few.chain((some) => fc.tuple(fc.constant(some), searchText(some)));

function share(found: readonly boolean[]): number {
  return found.filter(Boolean).length / found.length;
}

describe("runs", () => {
  test("can be stored as they are", () => {
    fc.assert(
      fc.property(searchedRun, (run) => {
        for (const text of [run.project, run.name, ...run.tags]) {
          expect(text).toBe(text.trim());
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(512);
          expect(text.length).toBeGreaterThan(0);
        }
        for (const document of [run.config, run.metadata]) expect(document).toMatch(/^\{.*\}$/s);
      }),
    );
  });

  test.each<[what: string, is: (run: SearchedRun) => boolean]>([
    ["no tags", (run) => run.tags.length === 0],
    ["more tags than count", (run) => Buffer.byteLength(run.tags.join(" ")) > 32_768],
    ["more metadata than is searched", (run) => Buffer.byteLength(run.metadata) > 32_768],
    ["more config than is searched", (run) => Buffer.byteLength(run.config) > 32_768],
    ["another status shown than stored", (run) => run.status !== run.displayStatus],
    ["K and s that only Unicode folds", (run) => /\u{212A}|\u{17F}/u.test(run.name)],
    ["notes under several keys", (run) => /"description":".*"notes":"/s.test(run.metadata)],
    ["notes that no database text can hold", (run) => /:"a\\u(?:0000|d800)b"/.test(run.metadata)],
    ["characters that patterns of SQL know", (run) => /[%_\\]/.test(run.name)],
  ])("have now and then %s", (_what, is) => {
    expect(share(runs.map(is))).toBeGreaterThan(0.005);
  });
});

describe("queries", () => {
  test("are accepted, all of them", () => {
    fc.assert(
      fc.property(fewWithText, ([, text]) => {
        expect(parseSearch(text, checkRegex)).toBeDefined();
      }),
      { numRuns: 1000 },
    );
  });

  test("find some runs and leave others out", () => {
    const answers = fc.sample(fewWithText, fixed).flatMap(([some, text]) => {
      const tree = parseSearch(text, checkRegex);
      return some.map(
        (run) => tree !== undefined && matches(tree, run, (source, where) => pattern(source).test(where)),
      );
    });
    expect(share(answers)).toBeGreaterThan(0.25);
    expect(share(answers)).toBeLessThan(0.75);
  });
});
