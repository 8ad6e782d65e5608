import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { LINE_BYTES_MAX, encodeLine, type ArchiveLine, readLines, type NumberedLine } from "./line.ts";
import { anyLineOf } from "./line.fixture.ts";

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
