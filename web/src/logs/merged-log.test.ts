import { expect, test } from "@jest/globals";
import fc from "fast-check";
import type { LogSource } from "./log-source.ts";
import type { LogLine } from "./log-windows.ts";
import { mergedLog } from "./merged-log.ts";

const { signal } = new AbortController();
const at = (ms: number): string => new Date(ms).toISOString();
const linesOf = (times: readonly number[], name: string, step = 1): readonly LogLine[] =>
  times.map((time, i) => ({ number: 1 + i * step, text: `${name}${i}`, at: at(time) }));

function sourceOf(lines: readonly LogLine[]): LogSource {
  return {
    ends: async () => (lines.length === 0 ? undefined : { first: lines[0]!.number, last: lines.at(-1)!.number }),
    firstFrom: async (number) => lines.find((line) => line.number >= number),
    lines: async (from, to) => lines.filter(({ number }) => number >= from && number <= to),
    search: async (text) => ({ lines: lines.filter((line) => line.text.includes(text)), next: undefined }),
  };
}

async function readAll(source: LogSource, size: number): Promise<LogLine[]> {
  const ends = await source.ends(signal);
  const all: LogLine[] = [];
  if (ends === undefined) return all;
  for (let from = ends.first; from <= ends.last; from += size)
    all.push(...(await source.lines(from, Math.min(from + size - 1, ends.last), signal)));
  return all;
}

test("lines of both streams are in the order of their times, each with its own stream and number", async () => {
  const merged = mergedLog(sourceOf(linesOf([10, 20, 30], "o")), sourceOf(linesOf([5, 25, 40], "e")));
  const all = await readAll(merged, 2);
  expect(all.map(({ text }) => text)).toEqual(["e0", "o0", "o1", "e1", "o2", "e2"]);
  expect(all[3]).toMatchObject({ number: 2, own: { stream: "stderr", number: 2 } });
  // Behind the last line of its window, or before the first of the next one.
  expect(await merged.place!(all[3]!, signal)).toBe(3);
  const found = await merged.search("1", "", signal);
  expect(found.lines.map(({ text }) => text)).toEqual(["o1", "e1"]);
});

test("a stream alone is itself, and the longer one gives the numbers", async () => {
  const alone = mergedLog(sourceOf([]), sourceOf(linesOf([1, 2], "e")));
  expect((await readAll(alone, 10)).map(({ text }) => text)).toEqual(["e0", "e1"]);
  const long = mergedLog(sourceOf(linesOf([3], "o")), sourceOf(linesOf([1, 2, 4, 5, 6], "e")));
  expect(await long.ends(signal)).toEqual({ first: 1, last: 5, key: "stderr" });
});

test("no line is lost or twice, in windows of any size, with gaps in numbers, and in order where clocks are", async () => {
  const times = fc.array(fc.nat(50), { maxLength: 30 }).map((list) => list.toSorted((a, b) => a - b));
  await fc.assert(
    fc.asyncProperty(
      times,
      times,
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 3 }),
      async (a, b, size, step) => {
        const [out, err] = [linesOf(a, "o", step), linesOf(b, "e", step)];
        const all = await readAll(mergedLog(sourceOf(out), sourceOf(err)), size);
        const texts = all.map(({ text }) => text);
        expect(texts.toSorted()).toEqual([...out, ...err].map(({ text }) => text).toSorted());
        const read = all.map((line) => Date.parse(line.at));
        expect(read).toEqual(read.toSorted((x, y) => x - y));
        const numbers = all.map(({ number }) => number);
        expect(numbers).toEqual(numbers.toSorted((x, y) => x - y));
      },
    ),
  );
});
