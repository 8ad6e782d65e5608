import { describe, expect, test } from "@jest/globals";
import { RESTORE_LIMITS } from "@tidemark/limits";
import fc from "fast-check";
import { piecesOfLines, requireExpansion } from "./body-pieces.ts";

const MIN = RESTORE_LIMITS.pieceBytesMin;

async function* chunked(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let [at, i] = [0, 0];
  while (at < bytes.length) {
    const size = sizes[i++ % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function piecesOf(bytes: Uint8Array, sizes: readonly number[] = [65_536]) {
  let held = 0;
  const pieces = await Array.fromAsync(piecesOfLines(chunked(bytes, sizes), (more) => (held += more)));
  return { pieces: pieces.map(({ data, isLast }) => ({ data: Buffer.from(data), isLast })), held };
}

/** Lines of these lengths with their line feeds. */
const lines = (lengths: readonly number[]): Buffer =>
  Buffer.concat(lengths.map((length, i) => Buffer.from(`${String.fromCharCode(97 + (i % 26)).repeat(length - 1)}\n`)));

describe("pieces of a body", () => {
  test("end at the first line end from a mebibyte on, and the last has the rest", async () => {
    const body = lines([MIN, 10, MIN - 20, 10, 30]);
    const { pieces } = await piecesOf(body);
    expect(pieces.map(({ data, isLast }) => [data.length, isLast])).toEqual([
      [MIN, false],
      [MIN, false],
      [30, true],
    ]);
  });

  test("are the same however the bytes arrive, and together the body", async () => {
    const body = lines([300_000, 900_000, 5, 1_500_000, 2_000_000, 7, 400_000]);
    const expected = (await piecesOf(body, [body.length])).pieces;
    expect(expected.map(({ isLast }) => isLast)).toEqual([false, false, false, true]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1000, max: 1_500_000 }), { minLength: 1, maxLength: 8 }),
        async (sizes) => {
          const { pieces } = await piecesOf(body, sizes);
          expect(pieces.map(({ data }) => data.length)).toEqual(expected.map(({ data }) => data.length));
          expect(Buffer.concat(pieces.map(({ data }) => data)).equals(body)).toBe(true);
        },
      ),
      { numRuns: 30 },
    );
  });

  test.each([
    ["nothing", "", [[0, true]]],
    ["a line without its end", "abc", [[3, true]]],
  ])("of %s are one", async (_what, text, expected) => {
    const { pieces } = await piecesOf(Buffer.from(text));
    expect(pieces.map(({ data, isLast }) => [data.length, isLast])).toEqual(expected);
  });

  test("that end with the body have the last one at its end", async () => {
    const { pieces } = await piecesOf(lines([MIN, MIN]));
    expect(pieces.map(({ isLast }) => isLast)).toEqual([false, true]);
  });

  test("hold no more in memory than the largest piece", async () => {
    const { held } = await piecesOf(lines(Array.from({ length: 40 }, () => 100_000)));
    expect(held).toBeLessThan(2 * MIN);
  });

  test("are refused for a line that is too long", async () => {
    await expect(piecesOf(Buffer.alloc(34 * MIN, "x"))).rejects.toMatchObject({ reason: "archive_invalid" });
  });
});

test("a body may become a bounded multiple of its size, and a small one this many bytes", () => {
  const { expansionMax, expansionFreeBytes } = RESTORE_LIMITS;
  expect(() => requireExpansion(6000, expansionFreeBytes)).not.toThrow();
  expect(() => requireExpansion(1000, expansionFreeBytes + 1000 * expansionMax)).not.toThrow();
  expect(() => requireExpansion(1000, expansionFreeBytes + 1000 * expansionMax + 1)).toThrow(
    expect.objectContaining({ reason: "bad_request" }),
  );
});
