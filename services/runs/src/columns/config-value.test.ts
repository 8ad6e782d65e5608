import fc from "fast-check";
import { parseExact, writeCanonical, type ExactJson } from "@tidemark/documents";
import { expect, test } from "@jest/globals";
import { isCertainlyLonger } from "./config-value.rules.ts";

test("certainly longer values are longer", () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const value = parseExact(json);
      expect(isCertainlyLonger(value, writeCanonical(value).length)).toBe(false);
    }),
  );
});

test.each<[string, ExactJson]>([
  ["a text", "x".repeat(1000)],
  ["a list", Array.from({ length: 1000 }, () => 1)],
  ["an object", Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`${n}`, null]))],
  ["nested objects", { a: { b: { c: ["x".repeat(1000)] } } }],
])("%s of much more than the most is certainly longer, and is not read to its end", (_what, value) => {
  expect(isCertainlyLonger(value, 900)).toBe(true);
  const untouchable = new Proxy({}, { ownKeys: () => raise("it was read to its end") });
  expect(isCertainlyLonger([value, untouchable], 900)).toBe(true);
});

function raise(message: string): never {
  throw new Error(message);
}
