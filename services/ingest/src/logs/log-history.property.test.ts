import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

import fc from "fast-check";
import type { Compaction } from "../compaction/work-loop.ts";
import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let compaction: Compaction;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
  // Blocks of about ten lines, so that short histories have many, in several levels, and reads need several statements.
  compaction = ingest.compactor({ blockWeight: 500, levelsMax: 3 });
});
afterAll(() => ingest.close());

type Line = { lineNumber: number; order: number; message: string; timestamp: string };
type Stream = "stdout" | "stderr";

/** A stream modeled without tiers and blocks: all lines that were sent, in order. */
const modelOf = () => ({ stdout: [] as Line[], stderr: [] as Line[] });
const inOrder = (lines: readonly Line[]) => lines.toSorted((a, b) => a.lineNumber - b.lineNumber || a.order - b.order);

const lower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

type NaivePage = { lines: Line[]; next: number | undefined; truncated: boolean };

/** A page from line `from` on, by the specification; `next` is the index where the next page begins. */
function naivePage(all: readonly Line[], from: number, limit: number, q: string): NaivePage {
  const bound = q === "" ? limit : Math.max(limit + 1, Math.min(limit * 20, 5000));
  const lines: Line[] = [];
  for (let at = from; at < all.length; at++) {
    if (at - from === bound) return { lines, next: at, truncated: true };
    if (lower(all[at]!.message).includes(lower(q))) lines.push(all[at]!);
    if (lines.length === limit) return { lines, next: at + 1, truncated: false };
  }
  return { lines, next: undefined, truncated: false };
}

type Command =
  | { kind: "append"; stream: Stream; numbers: number[]; words: string[] }
  | { kind: "compact" }
  | { kind: "read"; stream: Stream; limit: number; q: string; compacting: boolean }
  | { kind: "tail"; stream: Stream; count: number; compacting: boolean };

const anyStream: fc.Arbitrary<Stream> = fc.constantFrom("stdout", "stdout", "stdout", "stderr");
const anyNumbers = fc.oneof(
  { weight: 4, arbitrary: fc.record({ first: fc.nat(120), count: fc.integer({ min: 1, max: 50 }) }) },
  { weight: 2, arbitrary: fc.record({ first: fc.constant(1), count: fc.integer({ min: 30, max: 50 }) }) },
);
const anyAppend: fc.Arbitrary<Command> = fc.record({
  kind: fc.constant("append" as const),
  stream: anyStream,
  numbers: fc.oneof(
    { weight: 6, arbitrary: anyNumbers.map(({ first, count }) => Array.from({ length: count }, (_, i) => first + i)) },
    { weight: 1, arbitrary: fc.array(fc.oneof(fc.nat(50), fc.maxSafeNat()), { minLength: 1, maxLength: 20 }) },
  ),
  words: fc.array(fc.constantFrom("Needle", "hay", "é", ""), { minLength: 1, maxLength: 4 }),
});
const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: anyAppend },
  { weight: 2, arbitrary: fc.constant<Command>({ kind: "compact" }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("read" as const),
      stream: anyStream,
      limit: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 1000 })),
      q: fc.constantFrom("", "needle", "É", "absent", ":1"),
      compacting: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("tail" as const),
      stream: anyStream,
      count: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 500 })),
      compacting: fc.boolean(),
    }),
  },
);

async function play(runId: string, commands: readonly Command[]): Promise<void> {
  const call = callOf(tenant);
  const model = modelOf();
  let order = 0;
  const seen = (lines: readonly { lineNumber: number; message: string }[]) =>
    lines.map(({ lineNumber, message }) => `${lineNumber} ${message}`);

  const append = async (stream: Stream, numbers: readonly number[], words: readonly string[]): Promise<void> => {
    const lines = numbers.map((lineNumber, i) => {
      order += 1;
      const timestamp =
        i % 3 === 0 ? "" : `2026-01-01T00:00:${String(order % 60).padStart(2, "0")}.000${(order % 9) + 1}Z`;
      return { lineNumber, message: `${order}:${words[i % words.length]}`, timestamp, order };
    });
    await ingest.write.appendLogLines({ runId, stream, lines }, call);
    model[stream].push(...lines);
  };

  const readAll = async (stream: Stream, limit: number, q: string): Promise<void> => {
    const all = inOrder(model[stream]);
    let [from, cursor]: [number | undefined, string] = [0, ""];
    while (from !== undefined) {
      const wanted: NaivePage = naivePage(all, from, limit, q);
      const page = await ingest.read.listLogLines({ runId, stream, limit, q, cursor }, call);
      expect(seen(page.lines)).toEqual(seen(wanted.lines));
      page.lines.forEach((line, i) => expect(line.timestamp).toBe(wanted.lines[i]!.timestamp || line.createdAt));
      expect([page.truncated, page.nextCursor !== ""]).toEqual([wanted.truncated, wanted.next !== undefined]);
      [from, cursor] = [wanted.next, page.nextCursor];
    }
  };

  const readTail = async (stream: Stream, tail: number): Promise<void> => {
    const { lines, nextCursor } = await ingest.read.listLogLines({ runId, stream, tail }, call);
    expect(seen(lines)).toEqual(seen(inOrder(model[stream]).slice(-tail)));
    expect(nextCursor).toBe("");
  };

  for (const command of commands) {
    if (command.kind === "append") await append(command.stream, command.numbers, command.words);
    else if (command.kind === "compact") await compaction.round();
    else {
      const read =
        command.kind === "tail"
          ? readTail(command.stream, command.count)
          : readAll(command.stream, command.limit, command.q);
      await Promise.all([read, command.compacting ? compaction.round() : undefined]);
    }
  }
  for (const stream of ["stdout", "stderr"] as const) {
    await readAll(stream, 1000, "");
    await readTail(stream, 500);
    await compaction.round();
    await readAll(stream, 7, "");
    await readAll(stream, 3, "needle");
    await readTail(stream, 9);
  }
}

const tiers = testSql(`SELECT (SELECT count(*) FROM ingest.log_segments WHERE run_id = $1) AS rows,
          (SELECT count(*) FROM ingest.log_blocks WHERE run_id = $1) AS blocks,
          (SELECT max(level) FROM ingest.log_blocks WHERE run_id = $1) AS "highestLevel"`);

describe("reads of console lines", () => {
  test("match a plain list of all lines, after any writes and compactions", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyCommand, { minLength: 4, maxLength: 30 }), async (commands) => {
        await play(await ingest.newRun(tenant), commands);
      }),
      { numRuns: 40 },
    );
  });

  test("say it of a run that began again many times, whose lines all are in blocks at last", async () => {
    const runId = await ingest.newRun(tenant);
    const restart = (words: string[]): Command[] => [
      ...[1, 51, 101].map((first): Command => ({
        kind: "append",
        stream: "stdout",
        numbers: Array.from({ length: 50 }, (_, i) => first + i),
        words,
      })),
      { kind: "compact" },
    ];
    const words = [["hay"], ["hay", "Needle"], ["é"], ["hay"], ["hay"], ["Needle"], ["hay"]];
    await play(runId, words.flatMap(restart));
    const found = await ingest.owner.one<{ rows: number; blocks: number; highestLevel: number }>(tiers, [runId]);
    expect(found).toMatchObject({ rows: 0 });
    expect(found!.highestLevel).toBeLessThan(3);
    expect(found!.blocks).toBeGreaterThan(50);
  });
});
