import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { readMerged } from "./merge-runs.ts";
import type { TracePosition } from "./trace-rows.sql.ts";

const RUNS = ["a", "b", "c"];
const ID = (n: number): string => (n === 3 ? "f".repeat(32) : n.toString(16).padStart(32, "0"));

const position = fc.record({
  startedUs: fc.integer({ min: 1, max: 4 }),
  traceId: fc.integer({ min: 0, max: 3 }).map(ID),
  runId: fc.constantFrom(...RUNS),
});
const nameOf = ({ startedUs, traceId, runId }: TracePosition): string => `${startedUs} ${traceId} ${runId}`;
const behind = (a: TracePosition, b: TracePosition): boolean =>
  a.startedUs === b.startedUs ? a.traceId < b.traceId : a.startedUs < b.startedUs;

test("lists of runs are one list, whatever their pages, and traces of one id and start are all in it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(position, { selector: nameOf, maxLength: 40 }),
      fc.integer({ min: 1, max: 15 }),
      async (traces, rowsMax) => {
        const ordered = traces.toSorted((a, b) => (nameOf(a) < nameOf(b) ? 1 : -1));
        const read = readMerged(RUNS, (runId) => (after, most) => {
          const own = ordered.filter((trace) => trace.runId === runId);
          return Promise.resolve(own.filter((one) => after === undefined || behind(one, after)).slice(0, most));
        });
        const found: TracePosition[] = [];
        for (;;) {
          const page = await read(found.at(-1), rowsMax);
          found.push(...page);
          expect(page.length).toBeLessThanOrEqual(rowsMax);
          if (page.length < rowsMax) break;
        }
        expect(found.map(nameOf)).toEqual(ordered.map(nameOf));
      },
    ),
  );
});

test("of each run little more than its share is read", async () => {
  const asked: number[] = [];
  const read = readMerged(RUNS, () => (_, most) => {
    asked.push(most);
    return Promise.resolve([]);
  });
  expect(await read(undefined, 300)).toEqual([]);
  expect(asked).toEqual([108, 108, 108]);
});
