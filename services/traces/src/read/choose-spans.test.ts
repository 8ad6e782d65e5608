import fc from "fast-check";
import { expect, test } from "@jest/globals";
import type { TraceFold } from "../fold/totals.rules.ts";
import { chooseSpans } from "./choose-spans.rules.ts";

/** A trace of roots with these starts, whose ids ascend or descend. */
function foldOf(starts: readonly number[], idsDescend: boolean): TraceFold {
  const count = starts.length;
  const low = (span: number): number => (idsDescend ? count - span : span + 1);
  const columns = {
    start: Float64Array.from(starts),
    parentHigh: new Uint32Array(count),
    parentLow: new Uint32Array(count),
  };
  return { table: { ids: { count, high: () => 0, low }, columns } } as unknown as TraceFold;
}

test("the first spans by start and id are chosen, in any order of arrival", () => {
  const starts = fc.array(fc.nat(20), { maxLength: 60 });
  const order = fc.constantFrom("any", "ascending", "descending");
  fc.assert(
    fc.property(starts, order, fc.boolean(), fc.integer({ min: 1, max: 70 }), (drawn, arrival, idsDescend, count) => {
      const sorted = drawn.toSorted((a, b) => (arrival === "ascending" ? a - b : b - a));
      const arrived = arrival === "any" ? drawn : sorted;
      const fold = foldOf(arrived, idsDescend);
      const { ids } = fold.table;
      const all = arrived.map((_, span) => span);
      const expected = all.toSorted((a, b) => arrived[a]! - arrived[b]! || ids.low(a) - ids.low(b)).slice(0, count);
      expect(chooseSpans(fold, "roots", undefined, count)).toEqual(expected);
    }),
  );
});
