import { describe, expect, test } from "@jest/globals";
import {
  columnsOfRequest,
  comparePositions,
  countOf,
  decodeLogBlock,
  encodeLogBlock,
  messageAt,
  positionAt,
  type LogColumns,
} from "@tidemark/codecs/logs";
import fc from "fast-check";
import { absorbLines, foldLevels } from "./arrange-log-lines.ts";
import { createMemoryBlockStore, type MemoryBlockStore } from "./log-block-store.fixture.ts";
import { LEVEL_RULES, type LevelRules } from "./log-levels.rules.ts";

/** Blocks of a few lines, so that short histories make many. */
const small: LevelRules = { blockWeight: 400, levelsMax: 3 };
const STEPS_MAX = 10_000;

/** Gives each line a different text that identifies it. */
function requestOf(id: number, lineNumbers: readonly number[]): { id: number; columns: LogColumns } {
  const lines = lineNumbers.map((lineNumber, i) => ({ lineNumber, message: `${id + i}`, sent: null }));
  const block = encodeLogBlock(columnsOfRequest(lines), { compressFrom: Infinity });
  return { id, columns: decodeLogBlock(block, { id, createdUs: id }) };
}

async function foldAll(store: MemoryBlockStore, rules: LevelRules): Promise<number> {
  for (let steps = 0; steps < STEPS_MAX; steps++) if ((await foldLevels(store, rules)) === undefined) return steps;
  throw new Error("folding does not end");
}

function checkLevels(store: MemoryBlockStore, rules: LevelRules): void {
  const facts = store.stored().map((stored) => stored.facts);
  for (let level = 0; level < rules.levelsMax; level++) {
    const own = facts.filter((block) => block.level === level).sort((a, b) => comparePositions(a.first, b.first));
    own.slice(1).forEach((block, i) => expect(comparePositions(own[i]!.last, block.first)).toBeLessThan(0));
  }
  expect(facts.every(({ level }) => level < rules.levelsMax)).toBe(true);
}

function linesIn(store: MemoryBlockStore): string[] {
  return store
    .stored()
    .flatMap(({ block }) => {
      const columns = decodeLogBlock(block);
      return Array.from({ length: countOf(columns) }, (_, i) => ({
        ...positionAt(columns, i),
        text: `${columns.lineNumbers[i]!} ${messageAt(columns, i)}`,
      }));
    })
    .sort(comparePositions)
    .map(({ text }) => text);
}

/** Line numbers from one process, from processes that begin again, and in an order that no process should send. */
const anyNumbers = fc.oneof(
  fc.record({ first: fc.nat(60), count: fc.integer({ min: 1, max: 50 }), step: fc.constantFrom(0, 1, 1, 1, 7, 2000) }),
  fc.record({ first: fc.constantFrom(1, 5000), count: fc.integer({ min: 1, max: 50 }), step: fc.constant(1) }),
);
const anyRequest = fc.oneof(
  {
    weight: 5,
    arbitrary: anyNumbers.map(({ first, count, step }) => Array.from({ length: count }, (_, i) => first + i * step)),
  },
  { weight: 1, arbitrary: fc.array(fc.oneof(fc.nat(100), fc.maxSafeNat()), { minLength: 1, maxLength: 20 }) },
);

describe("blocks of a stream, absorbed and folded,", () => {
  test("hold every line once, do not overlap within a level, and keep to the levels, for any input in any order", async () => {
    const history = fc.array(fc.array(anyRequest, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(history, async (batches) => {
        const store = createMemoryBlockStore();
        const wanted: { lineNumber: number; id: number }[] = [];
        let id = 0;
        for (const batch of batches) {
          const rows = batch.map((numbers) => requestOf((id += 64), numbers));
          for (const { columns } of rows) {
            for (let i = 0; i < countOf(columns); i++) wanted.push(positionAt(columns, i));
          }
          await absorbLines(store, small, rows);
          await foldAll(store, small);
          checkLevels(store, small);
        }
        expect(linesIn(store)).toEqual(wanted.sort(comparePositions).map((line) => `${line.lineNumber} ${line.id}`));
      }),
      { numRuns: 120 },
    );
  });

  const runOnce = async (store: MemoryBlockStore, rules: LevelRules, first: number, lines: number, rows: number) => {
    let [id, line] = [first, 1];
    while (line <= lines) {
      const batch: { id: number; columns: LogColumns }[] = [];
      for (; batch.length < rows && line <= lines; line += 50, id += 64) {
        batch.push(
          requestOf(
            id,
            Array.from({ length: Math.min(50, lines - line + 1) }, (_, i) => line + i),
          ),
        );
      }
      await absorbLines(store, rules, batch);
      await foldAll(store, rules);
    }
    return id;
  };

  test("of one process lie in one level, full but for the last few", async () => {
    const store = createMemoryBlockStore();
    await runOnce(store, small, 64, 5000, 3);
    const facts = store.stored().map((stored) => stored.facts);
    expect(facts.every(({ level }) => level === 0)).toBe(true);
    // A line weighs 32 and its message.
    expect(facts.length).toBeLessThan((5000 * 38) / 400 + 10);
  });

  test("of a slow stream are rewritten a few times, not once for each of its lines", async () => {
    const store = createMemoryBlockStore();
    const rules = { ...LEVEL_RULES, blockWeight: 8192 };
    for (let line = 1; line <= 2000; line++) await absorbLines(store, rules, [requestOf(line * 64, [line])]);
    const bytes = store.stored().reduce((sum, { facts }) => sum + facts.messageBytes, 0);
    expect(store.effort.bytesRead / bytes).toBeLessThan(8);
    expect(store.stored().length).toBeLessThan((2000 * 38) / 8192 / 0.75 + 10);
  });

  test("of many processes that all began at 1 are read few times more than they are long", async () => {
    const store = createMemoryBlockStore();
    let id = 64;
    for (let restart = 0; restart < 60; restart++) {
      id = await runOnce(store, small, id, 150, 3);
      checkLevels(store, small);
    }
    const bytes = store.stored().reduce((sum, { facts }) => sum + facts.messageBytes, 0);
    expect(linesIn(store)).toHaveLength(60 * 150);
    expect(store.effort.bytesRead / bytes).toBeLessThan(12);
  });

  test("are folded in steps of bounded size, even when every request reaches over the whole stream", async () => {
    const store = createMemoryBlockStore();
    let id = await runOnce(store, small, 64, 4000, 20);
    for (let i = 0; i < 40; i++, id += 64) {
      await absorbLines(store, small, [requestOf(id, [i, 1000 + 3 * i, 2000 + 5 * i, 4000 - i])]);
      await foldAll(store, small);
    }
    checkLevels(store, small);
    expect(linesIn(store)).toHaveLength(4160);
    expect(store.effort.largestRead).toBeLessThan(33 * small.blockWeight);
  });
});
