import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { finish } from "@tidemark/testkit";
import { parseInSlices } from "./sliced-json.ts";

function sliced(text: string, pieceBytes: number): unknown {
  const pieces = parseInSlices(Buffer.from(text), {
    parse: (piece, before, after) => JSON.parse(before + piece.toString() + after) as unknown,
    check: () => undefined,
    opened: () => undefined,
    keyed: () => undefined,
    pieceBytes,
  });
  return finish(pieces);
}

function outcome(parse: () => unknown): { value: unknown } | "refused" {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof SyntaxError) return "refused";
    throw error;
  }
}

const nested = fc.jsonValue({ maxDepth: 5 }).filter((value) => typeof value === "object" && value !== null);
const pieceBytes = fc.integer({ min: 1, max: 40 });

test("the value is that of JSON.parse, in its order", () => {
  fc.assert(
    fc.property(nested, pieceBytes, fc.constantFrom("", " ", "\n\t"), (value, bytes, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(sliced(text, bytes)).toEqual(JSON.parse(text));
      expect(JSON.stringify(sliced(text, bytes))).toBe(JSON.stringify(value));
    }),
    { numRuns: 500 },
  );
});

test("exactly the texts that JSON.parse refuses are refused", () => {
  const bits = fc.constantFrom("[", "]", "{", "}", ",", ":", '"a"', '"b":', "1", "null", " ", '"', "\\", "\u00a0");
  const text = fc.array(bits, { maxLength: 14 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(
      fc.constantFrom("[", "{", ""),
      text,
      fc.constantFrom("]", "}", ""),
      pieceBytes,
      (open, inner, close, bytes) => {
        const whole = open + inner + close;
        const plain = outcome(() => JSON.parse(whole) as unknown);
        const isNested = plain !== "refused" && typeof plain.value === "object" && plain.value !== null;
        expect(outcome(() => sliced(whole, bytes))).toEqual(isNested ? plain : "refused");
      },
    ),
    { numRuns: 20_000 },
  );
});

test("a damaged text is refused as JSON.parse refuses it", () => {
  fc.assert(
    fc.property(
      nested,
      fc.nat(),
      fc.constantFrom("", ",", "]", "}", "[", "{", '"', ":", "x"),
      pieceBytes,
      (value, place, put, bytes) => {
        const text = JSON.stringify(value);
        const at = place % text.length;
        const damaged = text.slice(0, at) + put + text.slice(at + 1);
        const plain = outcome(() => JSON.parse(damaged) as unknown);
        const isNested = plain !== "refused" && typeof plain.value === "object" && plain.value !== null;
        expect(outcome(() => sliced(damaged, bytes))).toEqual(isNested ? plain : "refused");
      },
    ),
    { numRuns: 5000 },
  );
});

test.each(["[1[2,3],4]", '{"a":1[2,3]}', "[[1,2][3,4]]", '{"a":[1,2]"b":1}'])("%s is refused", (text) => {
  for (let bytes = 1; bytes < text.length; bytes += 1) expect(outcome(() => sliced(text, bytes))).toBe("refused");
});

describe("keys", () => {
  test.each([
    '{"a":[1,2,3],"b":1,"a":{"c":[4,5,6]}}',
    '{"__proto__":[1,2,3,4],"b":{"__proto__":{"x":[1,2,3]}}}',
    '{"2":[1,2],"1":[3,4]}',
  ])("%s", (text) => {
    for (let bytes = 1; bytes < text.length; bytes += 1) {
      expect(JSON.stringify(sliced(text, bytes))).toBe(JSON.stringify(JSON.parse(text)));
    }
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});
