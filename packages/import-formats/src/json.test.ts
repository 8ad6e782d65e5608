import { expect, test } from "@jest/globals";
import { readPythonJson } from "./json.ts";

test.each([
  ['{"a": NaN, "b": [Infinity, -Infinity]}', { a: "NaN", b: ["Infinity", "-Infinity"] }],
  ['{"text": "NaN \\" Infinity", "n": NaN}', { text: 'NaN " Infinity', n: "NaN" }],
  ["1e400", "Infinity"],
  ["NaN", "NaN"],
])("%s has words in place of numbers that JSON lacks", (text, value) => {
  expect(readPythonJson(text)).toEqual(value);
});

test.each(["", "{", "NaNs", '"', "[1,]", '{"a": "'])("%j is not JSON", (text) => {
  expect(readPythonJson(text)).toBeUndefined();
});

test("a text that ends within a string of many escapes is not JSON", () => {
  expect(readPythonJson(`"${"\\n".repeat(2_000_000)}`)).toBeUndefined();
});

test("values nested too deeply become null, and a key may be __proto__", () => {
  expect(JSON.stringify(readPythonJson("[".repeat(100) + "]".repeat(100)))).toBe(
    `${"[".repeat(64)}null${"]".repeat(64)}`,
  );
  expect(JSON.stringify(readPythonJson('{"__proto__": 1}'))).toBe('{"__proto__":1}');
});
