import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { isArchiveError } from "./json-parts.ts";
import { decodeLine, encodeLine } from "./line.ts";
import { anyLineOf } from "./line.fixture.ts";

describe.each(anyLineOf)("a line of the kind %s", (_kind, anyLine) => {
  test("is read as it was written", () => {
    fc.assert(
      fc.property(anyLine, (line) => {
        const json = encodeLine(line);
        expect(json.indexOf("\n")).toBe(json.length - 1);
        expect(decodeLine(json)).toStrictEqual(line);
      }),
    );
  });

  test("is JSON", () => {
    fc.assert(fc.property(anyLine, (line) => void JSON.parse(encodeLine(line))));
  });

  test("that was cut, or has a byte too many, is refused", () => {
    fc.assert(
      fc.property(anyLine, fc.double({ min: 0, max: 1, noNaN: true }), (line, part) => {
        const json = encodeLine(line).trimEnd();
        for (const damaged of [json.slice(0, Math.floor(part * (json.length - 1))), `${json}}`, `${json},`]) {
          expect(() => decodeLine(damaged)).toThrow(expect.objectContaining({ name: "ArchiveError" }));
        }
      }),
    );
  });

  test("with changed characters is a line or refused", () => {
    fc.assert(
      fc.property(anyLine, fc.nat(), fc.constantFrom(...'{}[],:"\\0-e n'.split("")), (line, place, character) => {
        const json = encodeLine(line).trimEnd();
        const at = place % json.length;
        try {
          decodeLine(json.slice(0, at) + character + json.slice(at + 1));
        } catch (error) {
          expect(isArchiveError(error)).toBe(true);
        }
      }),
    );
  });
});
