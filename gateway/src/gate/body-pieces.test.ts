import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { createBodyPieces } from "./body-pieces.ts";

test("the pieces are the chunks, in their order", () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 4000, max: 70_000 })), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(sizes, (lengths) => {
      const chunks = lengths.map((length, i) => Buffer.alloc(length, i));
      const pieces = createBodyPieces();
      for (const chunk of chunks) pieces.add(chunk);
      expect(Buffer.concat(pieces.take()).equals(Buffer.concat(chunks))).toBe(true);
    }),
  );
});

test("a single chunk is not copied", () => {
  const [pieces, chunk] = [createBodyPieces(), Buffer.from("{}")];
  pieces.add(chunk);
  expect(pieces.take()).toEqual([chunk]);
  expect(pieces.take()[0]).toBe(chunk);
});

test.each([
  ["single bytes", 1_000_000, () => 1],
  ["single bytes between larger chunks", 2_000_000, (i: number) => (i % 2 === 0 ? 1 : 4096)],
])("%s become few pieces of little more than their bytes", (_, total, lengthOf) => {
  const pieces = createBodyPieces();
  let length = 0;
  for (let i = 0; length < total; i += 1) {
    const chunk = Buffer.alloc(lengthOf(i));
    length += chunk.length;
    pieces.add(chunk);
  }
  const kept = pieces.take();
  expect(kept.length).toBeLessThanOrEqual(total / 2000);
  const held = new Set(kept.map(({ buffer }) => buffer));
  expect([...held].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(3 * total);
});
