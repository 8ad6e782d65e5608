import { describe, expect, test } from "@jest/globals";
import { encodeLine, type ArchiveLine } from "@tidemark/archive";
import { finish } from "@tidemark/testkit";
import { judgeArchive, unknownWarnings, type ArchiveFacts } from "./archive-facts.rules.ts";
import { RESTORE_LIMITS } from "@tidemark/limits";
import { checkLine } from "./check-row.rules.ts";
import { factsOf, type PieceFacts } from "./piece-facts.rules.ts";

const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const at = "2026-11-23T00:00:00Z";
const begin: ArchiveLine = {
  line: "export",
  version: 1,
  product: "tidemark",
  exported_at: at,
  org_id: id(9),
  selection: { project_id: id(1), run_ids: undefined },
};
const project: ArchiveLine = { line: "project", id: id(1), name: "p", description: undefined, created_at: at };
const run = (n: number): ArchiveLine =>
  ({
    line: "run",
    id: id(n),
    project_id: id(1),
    name: "r",
    status: "running",
    config: "{}",
    tags: [],
    metadata: "{}",
    created_at: at,
    started_at: at,
    resume_count: 0,
    lifecycle: [],
  }) as unknown as ArchiveLine;
const points = (n: number): ArchiveLine =>
  ({
    line: "points",
    run_id: id(n),
    key: "loss",
    columns: { step: Float64Array.of(0, 1), value: Float64Array.of(1, -0), created_at: Float64Array.of(1, 2) },
  }) as unknown as ArchiveLine;
const none = { rank_points: 0, lines: 0, attribute: 0, object: 0, artifact: 0, collection: 0, version: 0 };
const end = (counts: object): ArchiveLine => ({
  line: "end",
  counts: { project: 1, run: 0, points: 0, trace: 0, report: 0, view: 0, ...none, ...counts },
});

const line = (members: object): ArchiveLine => members as ArchiveLine;

/** Reads lines, cut into pieces of this many. */
function read(lines: readonly (ArchiveLine | string)[], together = lines.length): PieceFacts[] {
  const texts = lines.map((line) => (typeof line === "string" ? line : encodeLine(line)));
  const pieces: PieceFacts[] = [];
  let firstLine = 1;
  for (let from = 0; from < texts.length; from += together) {
    const data = Buffer.from(texts.slice(from, from + together).join(""));
    const facts = factsOf(data, { number: pieces.length, firstLine }, checkLine);
    pieces.push(facts);
    firstLine += facts.lines;
  }
  return pieces;
}

/** Judges in one go. */
function judge(pieces: readonly PieceFacts[]): ArchiveFacts {
  return finish(judgeArchive(pieces));
}

const whole = [begin, project, run(2), run(3), points(2), points(2), points(3), end({ run: 2, points: 6 })];

describe("an archive", () => {
  test.each([1, 2, 3, 8])("is judged alike in pieces of %i lines", (together) => {
    const { counts, ids } = judge(read(whole, together));
    expect(counts).toMatchObject({ project: 1, run: 2, points: 6 });
    expect([...ids.get("run")!]).toEqual([id(2), id(3)]);
  });

  test.each<[string, (ArchiveLine | string)[], number]>([
    ["with a row before what it belongs to", [begin, project, points(2), run(2), end({ run: 1, points: 2 })], 3],
    ["with a row that occurs twice", [begin, project, run(2), run(2), end({ run: 2 })], 4],
    ["with more rows than its end counts", [begin, project, run(2), end({})], 4],
    ["with fewer rows than its end counts", [begin, project, end({ run: 1 })], 3],
    ["with a second beginning", [begin, project, begin, end({})], 3],
    ["that continues after its end", [begin, project, end({}), "\n", project], 5],
    ["without a beginning", [project, end({})], 1],
    ["of bytes that are not text", [begin, "\ud800", project], 2],
    ["with a step below 0", [begin, project, run(2), encodeLine(points(2)).replace("[0,1]", "[-1,1]")], 4],
    [
      "with half a microsecond",
      [begin, project, run(2), encodeLine(points(2)).replace('"created_at":[1,2]', '"created_at":[1.5,2]')],
      4,
    ],
    [
      "with a time that is too late",
      [begin, project, run(2), encodeLine(points(2)).replace('"created_at":[1,2]', '"created_at":[1,1e300]')],
      4,
    ],
    ["with an unknown word", [begin, project, encodeLine(run(2)).replace('"running"', '"paused"')], 3],
    ["with a run that has ended at no time", [begin, project, encodeLine(run(2)).replace('"running"', '"failed"')], 3],
    ["with a name that is too long", [begin, encodeLine(project).replace('"p"', `"${"é".repeat(257)}"`)], 2],
  ])("%s is refused with its line", (_what, lines, position) => {
    for (const together of [1, lines.length]) {
      expect(() => judge(read(lines, together))).toThrow(expect.objectContaining({ name: "LineFault", position }));
    }
  });

  test.each([
    ["blank", "\n", true],
    ["unknown", '{"type":"x"}\n', true],
    ["known", encodeLine(project), false],
  ])("has no more %s lines than a piece may have", (_what, line, isRefused) => {
    const mebibyte = line.repeat(Math.ceil(RESTORE_LIMITS.pieceBytesMin / line.length));
    const read = () => factsOf(Buffer.from(mebibyte), { number: 1, firstLine: 11 }, () => {});
    const position = 11 + RESTORE_LIMITS.pieceLinesMax;
    if (isRefused) expect(read).toThrow(expect.objectContaining({ name: "LineFault", position }));
    else expect(read().lines).toBeGreaterThan(9000);
  });

  test("names unknown types up to a number and a length", () => {
    const types = ["x".repeat(65), ...Array.from({ length: 101 }, (_, i) => `t${i}`), "t0"];
    const lines = [begin, ...types.map((type) => `${JSON.stringify({ type })}\n`), end({ project: 0 })];
    const { unknown } = judge(read(lines));
    expect([unknown.size, unknown.get("t0"), unknown.get("t98"), unknown.get("others")]).toEqual([100, 2, 1, 3]);
  });

  test("may have lines of unknown types, and blank ones", () => {
    const lines = [begin, '{"type":"new","a":1}\n', "\n", project, '{"type":"new"}\n', end({ project: 1 }), "\n"];
    for (const together of [1, 3, lines.length]) {
      expect(unknownWarnings(judge(read(lines, together)).unknown)).toEqual([
        '2 lines of the unknown type "new" were skipped',
      ]);
    }
  });
});

test("a piece that ends with a trace says so, because its spans are in the next one", () => {
  const trace = line({ line: "trace", run_id: id(2), trace_id: "1".padStart(32, "0"), updated_at: 5 });
  const [first, second] = read([begin, project, run(2), trace, points(2)], 4);
  expect(first!.openTrace).toMatchObject({ updated_at: 5 });
  expect(second!.openTrace).toBeUndefined();
});
