import { expect, test } from "@jest/globals";
import { parseJsonObject } from "@tidemark/documents";
import { cleanBody } from "./clean-body.rules.ts";

const clean = (value: unknown) => cleanBody(parseJsonObject(Buffer.from(JSON.stringify(value)), true));

test("any value of a secret key is removed, and null stays", () => {
  expect(clean({ token: { a: 1 }, b: [{ password: [1], secret: null }] })).toEqual({
    token: "[REDACTED]",
    b: [{ password: "[REDACTED]", secret: null }],
  });
});

test("long integers keep their digits", () => {
  const body = parseJsonObject(Buffer.from('{"seed":12345678901234567890,"list":[[12345678901234567890]]}'), true);
  expect(JSON.stringify(cleanBody(body))).toBe('{"seed":12345678901234567890,"list":[[12345678901234567890]]}');
});

test("a text of 8,192 characters is taken and a longer one is not, in lists and as a key too", () => {
  const fits = "🌊".repeat(8192);
  expect(clean({ a: [fits], [fits]: 1 })).toEqual({ a: [fits], [fits]: 1 });
  const long = `${fits}x`;
  for (const body of [{ a: long }, { a: [long] }, { a: { [long]: 1 } }, { a: "x".repeat(8193) }]) {
    expect(() => clean(body)).toThrow(expect.objectContaining({ reason: "bad_request" }));
  }
});
