import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readDocument, writeCanonical, type ExactObject } from "../documents/exact-json.rules.ts";
import { openDocument } from "./document-cursor.ts";

function membersOf(json: string): [string, string][] {
  const cursor = openDocument(json);
  const members: [string, string][] = [];
  for (let key = cursor.key(); key !== undefined; key = cursor.key()) members.push([key, cursor.take()]);
  return members;
}

describe("the members of", () => {
  test.each<[string, [string, string][]]>([
    ["{}", []],
    ['{"":0}', [["", "0"]]],
    [
      '{"a":12345678901234567890,"b":1.0,"c":-0}',
      [
        ["a", "12345678901234567890"],
        ["b", "1.0"],
        ["c", "-0"],
      ],
    ],
    [
      '{"a":"}","b":"\\"","c":"\\\\","d":"\\\\\\""}',
      [
        ["a", '"}"'],
        ["b", '"\\""'],
        ["c", '"\\\\"'],
        ["d", '"\\\\\\""'],
      ],
    ],
    [
      '{"a":{"x":[1,{"y":"]}"}],"z":{}},"b":[[],[{}]]}',
      [
        ["a", '{"x":[1,{"y":"]}"}],"z":{}}'],
        ["b", "[[],[{}]]"],
      ],
    ],
    [
      '{"a\\"b":true,"c\\\\":null}',
      [
        ['a"b', "true"],
        ["c\\", "null"],
      ],
    ],
  ])("%s", (json, expected) => expect(membersOf(json)).toEqual(expected));

  test("any stored document are those of the parsed one", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), (value) => {
        const stored = writeCanonical(readDocument(Buffer.from(JSON.stringify(value)), "config"));
        const parsed = JSON.parse(stored) as Record<string, unknown>;
        const members = membersOf(stored);
        expect(members.map(([key]) => key)).toEqual(Object.keys(parsed).toSorted());
        for (const [key, text] of members) expect(JSON.parse(text)).toEqual(parsed[key]);
        // Nothing is lost or changed between the members.
        expect(`{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`).toBe(stored);
      }),
    );
  });

  test("a document with an own member __proto__ are all of them", () => {
    const value: ExactObject = readDocument(Buffer.from('{"__proto__":{"a":1},"constructor":2}'), "config");
    expect(membersOf(writeCanonical(value))).toEqual([
      ["__proto__", '{"a":1}'],
      ["constructor", "2"],
    ]);
  });
});
