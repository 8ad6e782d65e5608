import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import {
  decodeLine,
  encodeLine,
  encodePoints,
  writeColumn,
  writeValueColumn,
  type ArchiveLine,
  LINE_BYTES_MAX,
  readLines,
  type NumberedLine,
} from "./line.ts";
import { LINE_LENGTHS_MAX } from "./line-shapes.ts";
import { anyLineOf } from "./line.fixture.ts";

const runId = "01939e57-0000-7000-8000-000000000001";

const points = (columns: object): string => JSON.stringify({ type: "points", run_id: runId, key: "loss", columns });

test("points are short, and keep microseconds and the sign of 0", () => {
  const line: ArchiveLine = {
    line: "points",
    run_id: runId,
    key: "loss",
    columns: {
      step: Float64Array.of(0, 1),
      value: Float64Array.of(-0, 1e308),
      timestamp: Float64Array.of(1_795_176_000_000_001, Number.NaN),
      created_at: Float64Array.of(1_795_176_000_000_002, 1_795_176_000_000_003),
    },
  };
  expect(encodeLine(line)).toBe(
    `{"type":"points","run_id":"${runId}","key":"loss","columns":{"step":[0,1],"value":[-0,1e+308],` +
      `"timestamp":[1795176000000001,null],"created_at":[1795176000000002,1795176000000003]}}\n`,
  );
});

test.each([undefined, Float64Array.of(Number.NaN, 7)])("points of shared columns are written alike", (timestamp) => {
  const columns = { step: Float64Array.of(1, 2), value: Float64Array.of(0.5, -0), created_at: Float64Array.of(3, 4) };
  expect(
    encodePoints(runId, 'a"b', {
      step: writeColumn(columns.step),
      value: writeValueColumn(columns.value),
      timestamp: timestamp && writeColumn(timestamp),
      created_at: writeColumn(columns.created_at),
    }),
  ).toBe(encodeLine({ line: "points", run_id: runId, key: 'a"b', columns: { ...columns, timestamp } }));
});

test("a number that is not finite is not written", () => {
  expect(() => writeColumn(Float64Array.of(1, Number.POSITIVE_INFINITY))).toThrow("not finite");
});

test("a document keeps everything but its line breaks", () => {
  const view = {
    line: "view",
    id: runId,
    name: "n",
    project: undefined,
    visibility: undefined,
    payload: '{\n"a": 1.0,\r\n"a": 10000000000000000000001}',
    created_at: "2026-11-22T10:00:00.000001Z",
    updated_at: "2026-11-22T10:00:00Z",
  } as const;
  expect(decodeLine(encodeLine(view))).toStrictEqual({
    ...view,
    payload: '{ "a": 1.0,  "a": 10000000000000000000001}',
  });
});

describe("a line is refused", () => {
  test.each([
    ["that is not an object", "[]", "not an object"],
    ["without a type", "{}", "type is missing"],
    ["whose type is not a string", '{"type":1}', "type is missing"],
    ["without a member that it needs", '{"type":"end"}', "counts is missing"],
    [
      "with an unknown member",
      `{"type":"trace","run_id":"${runId}","trace_id":"${"0".repeat(32)}","updated_at":1,"x":1}`,
      "does not know",
    ],
    ["with a member twice", '{"type":"end","type":"end"}', "two members of one name"],
    ["with an id that is none", points({}).replace(runId, "x"), "run_id: not an id"],
    ["with columns of several lengths", points({ step: [1], value: [1, 2], created_at: [1] }), "differ in length"],
    ["with empty columns", points({ step: [], value: [], created_at: [] }), "must have 1 to"],
    [
      "with a gap among values",
      points({ step: [1], value: [null], created_at: [1] }),
      "value: not a list of finite numbers",
    ],
    ["with a text that is not a number", points({ step: [1], value: ["nan"], created_at: [1] }), "value: not a list"],
    ["with a step that is not finite", points({ step: ["NaN"], value: [1], created_at: [1] }), "step: not a list"],
    [
      "with a number beyond all doubles",
      points({ step: [1], value: [1], created_at: [1] }).replace("[1]", "[1e999]"),
      "finite",
    ],
    ["with a text among numbers", points({ step: ["1"], value: [1], created_at: [1] }), "step: not a list"],
    ["with an unknown column", points({ step: [1], value: [1], created_at: [1], more: [1] }), "does not know"],
    ["with something after its end", '{"type":"end"}{}', "follows the end"],
  ])("%s", (_what, json, text) => {
    expect(() => decodeLine(json)).toThrow(
      expect.objectContaining({ name: "ArchiveError", message: expect.stringContaining(text) }),
    );
  });

  test("with too many points", () => {
    const column = Array.from({ length: LINE_LENGTHS_MAX.points + 1 }, () => 1);
    expect(() => decodeLine(points({ step: column, value: column, created_at: column }))).toThrow("1 to 8192");
  });
});

test.each(["later", "object.rows", "toString", "__proto__"])("a line of the unknown type %s is told", (type) => {
  expect(decodeLine(JSON.stringify({ type, rows: [1] }))).toEqual({ line: "unknown", type });
});

async function all(chunks: Iterable<Uint8Array>): Promise<NumberedLine[]> {
  async function* arriving() {
    yield* chunks;
  }
  return Array.fromAsync(readLines(arriving()));
}

const unknown = (type: string) => Buffer.from(`{"type":"${type}"}\n`);

test("lines are read wherever the bytes are cut", async () => {
  const anyLine = fc.oneof(...anyLineOf.map(([, any]) => any));
  await fc.assert(
    fc.asyncProperty(fc.array(anyLine, { maxLength: 5 }), fc.integer({ min: 1, max: 50 }), async (lines, size) => {
      const bytes = Buffer.from(lines.map((line: ArchiveLine) => encodeLine(line)).join(""));
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      expect(await all(chunks)).toStrictEqual(lines.map((line, i) => ({ number: i + 1, line })));
    }),
  );
});

test("blank lines count and are passed over, and the last line needs no line feed", async () => {
  const bytes = Buffer.concat([unknown("a"), Buffer.from("\n \r\n"), unknown("b").subarray(0, -1)]);
  expect(await all([bytes])).toEqual([
    { number: 1, line: { line: "unknown", type: "a" } },
    { number: 4, line: { line: "unknown", type: "b" } },
  ]);
});

test.each([
  ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x0a]), "line 2: not UTF-8"],
  ["what is not a line", Buffer.from("{}\n"), "line 2: type is missing"],
])("%s have their number", async (_what, bytes, message) => {
  await expect(all([unknown("a"), bytes])).rejects.toMatchObject({ name: "ArchiveError", position: 2, message });
});

test("a line without an end is refused before it fills the memory", async () => {
  let sent = 0;
  function* endless() {
    for (const chunk = Buffer.alloc(1024 * 1024, 0x20); ; sent += chunk.length) yield chunk;
  }
  await expect(all(endless())).rejects.toMatchObject({ position: 1 });
  expect(sent).toBeLessThanOrEqual(LINE_BYTES_MAX);
});
