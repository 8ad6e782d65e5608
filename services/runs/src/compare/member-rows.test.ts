import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readDocument, writeCanonical, type ExactObject } from "@tidemark/documents";
import { documentRows, openDocument, tagRows } from "./member-rows.rules.ts";

describe("documents side by side", () => {
  test("have a row for each top key that one of them has, in order", () => {
    expect([...documentRows("config/", ['{"a":1,"c":{"x":1}}', "{}", '{"b":[1],"c":{"x":1.0}}'])]).toEqual([
      { path: "config/a", values: ["1", "", ""] },
      { path: "config/b", values: ["", "", "[1]"] },
      { path: "config/c", values: ['{"x":1}', "", '{"x":1.0}'] },
    ]);
  });

  test("are read one at a time", () => {
    let taken = 0;
    for (const { path } of documentRows("config/", ['{"a":1,"b":2,"c":3}', '{"b":3}'])) {
      taken += 1;
      if (path === "config/b") break;
    }
    expect(taken).toBe(2);
  });

  test("keep keys that look like paths or numbers apart", () => {
    const paths = [...documentRows("m/", ['{"":1,"10":2,"9":3,"a/b":4}'])].map(({ path }) => path);
    expect(paths).toEqual(["m/", "m/10", "m/9", "m/a/b"]);
  });
});

test("tags have a row each, true where a run has them, however often", () => {
  expect([...tagRows("tag/", [["b", "a", "b"], [], ["c", "a"]])]).toEqual([
    { path: "tag/a", values: ["true", "", "true"] },
    { path: "tag/b", values: ["true", "", ""] },
    { path: "tag/c", values: ["", "", "true"] },
  ]);
});

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
