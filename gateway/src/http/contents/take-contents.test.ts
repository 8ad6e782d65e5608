import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createContentsTokenizer, type ContentPath } from "./take-contents.ts";

const uploadPath: ContentPath = ["content_base64"];
const completePath: ContentPath = ["files", "*", "content_base64"];

/** Takes the contents out of a body that arrives in pieces of `size` bytes. */
function take(body: string | Buffer, path: ContentPath = uploadPath, size = Number.POSITIVE_INFINITY) {
  const bytes = Buffer.from(body);
  const rest: Buffer[] = [];
  const contents: { bytes: Buffer; right: boolean | undefined }[] = [];
  const tokenizer = createContentsTokenizer(path, {
    rest: (piece) => rest.push(Buffer.from(piece)),
    begin: () => contents.push({ bytes: Buffer.alloc(0), right: undefined }),
    bytes: (piece) => {
      const content = contents.at(-1)!;
      content.bytes = Buffer.concat([content.bytes, piece]);
    },
    end: (right) => (contents.at(-1)!.right = right),
  });
  const step = Math.min(size, Math.max(1, bytes.length));
  for (let at = 0; at < bytes.length; at += step) tokenizer.push(bytes.subarray(at, at + step));
  return {
    rest: Buffer.concat(rest).toString(),
    contents: contents.map(({ bytes: found, right }) => (right === true ? found.toString("latin1") : right)),
  };
}

describe.each([1, 2, 3, 7, 1000])("in pieces of %i bytes", (size) => {
  test.each([
    ["a content", '{"content_base64":"aGk=","name":"a"}', '{"content_base64":"0","name":"a"}', ["hi"]],
    ["an empty one", '{ "content_base64" : "" }', '{ "content_base64" : "0" }', [""]],
    ["one with escapes", String.raw`{"content_base64":"\/\/\u0038\u003D"}`, '{"content_base64":"0"}', ["\u00ff\u00ff"]],
    [
      "a name with escapes",
      String.raw`{"content\u005fbase64":"aGk="}`,
      String.raw`{"content\u005fbase64":"0"}`,
      ["hi"],
    ],
    ["a value that is not a string", '{"content_base64":5}', '{"content_base64":5}', []],
    ["a longer name", '{"content_base64_":"aGk="}', '{"content_base64_":"aGk="}', []],
    ["one deeper", '{"a":{"content_base64":"aGk="}}', '{"a":{"content_base64":"aGk="}}', []],
    ["one in a list", '[{"content_base64":"aGk="}]', '[{"content_base64":"aGk="}]', []],
    ["its name as a value", '{"a":"content_base64","b":"aGk="}', '{"a":"content_base64","b":"aGk="}', []],
    [
      "quotes in a text before",
      String.raw`{"a":"\\\"{[","content_base64":"aGk="}`,
      String.raw`{"a":"\\\"{[","content_base64":"0"}`,
      ["hi"],
    ],
    [
      "objects before",
      '{"a":{"b":[1,{"c":"}"}]},"content_base64":"aGk="}',
      '{"a":{"b":[1,{"c":"}"}]},"content_base64":"0"}',
      ["hi"],
    ],
    ["a missing colon", '{"content_base64" "aGk="}', '{"content_base64" "aGk="}', []],
  ])("%s", (_, body, rest, contents) => {
    expect(take(body, uploadPath, size)).toEqual({ rest, contents });
  });

  test.each([
    [
      "contents of files",
      '{"files":[{"content_base64":"aGk="},{"content_base64":"","x":[{}]}]}',
      '{"files":[{"content_base64":"0"},{"content_base64":"1","x":[{}]}]}',
      ["hi", ""],
    ],
    ["one above the list", '{"content_base64":"aGk=","files":[]}', '{"content_base64":"aGk=","files":[]}', []],
    [
      "one deeper in a file",
      '{"files":[{"a":{"content_base64":"aGk="}},[{"content_base64":"aGk="}]]}',
      '{"files":[{"a":{"content_base64":"aGk="}},[{"content_base64":"aGk="}]]}',
      [],
    ],
    ["files that are an object", '{"files":{"content_base64":"aGk="}}', '{"files":{"content_base64":"aGk="}}', []],
    ["other lists", '{"file":[{"content_base64":"aGk="}]}', '{"file":[{"content_base64":"aGk="}]}', []],
  ])("%s", (_, body, rest, contents) => {
    expect(take(body, completePath, size)).toEqual({ rest, contents });
  });

  test.each([
    "a",
    "ab",
    "abc",
    "a===",
    "ab=",
    "abc==",
    "=",
    "ab==a",
    "ab==abcd",
    "aGk=aGk=",
    "aGl=",
    "aG-_",
    "aG k",
    "aGk=\u00e9",
    "a\\n",
    "\\ud800",
  ])("invalid base64: %s", (text) => {
    expect(take(`{"content_base64":"${text}"}`, uploadPath, size)).toEqual({
      rest: '{"content_base64":"0"}',
      contents: [false],
    });
  });

  test.each([
    ["a control character", Buffer.from('{"content_base64":"aG\nk="}'), "the body is not valid JSON"],
    ["an unknown escape", Buffer.from(String.raw`{"content_base64":"\x"}`), "the body is not valid JSON"],
    ["an escape that is cut off", Buffer.from(String.raw`{"content_base64":"\u00"}`), "the body is not valid JSON"],
    ["another encoding", Buffer.from('{"content_base64":"\u00e9"}', "latin1"), "the body is not valid UTF-8"],
    [
      "a second one in an object",
      Buffer.from('{"content_base64":"","content_base64":1}'),
      "content_base64 is given twice in one object",
    ],
  ])("%s is refused", (_, body, message) => {
    expect(() => take(body, uploadPath, size)).toThrow(message);
  });
});

test("any bytes in any JSON, in any pieces, are read back, and the rest is the same JSON", () => {
  const jsonObject = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue());
  fc.assert(
    fc.property(
      fc.array(fc.tuple(jsonObject, fc.uint8Array({ maxLength: 300 }))),
      jsonObject,
      fc.integer({ min: 1, max: 50 }),
      (files, more, size) => {
        const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
        const bodyOf = (content: (bytes: Uint8Array, index: number) => string) =>
          JSON.stringify({
            ...more,
            files: files.map(([fields, bytes], i) => ({ ...fields, content_base64: content(bytes, i) })),
          });
        expect(take(bodyOf(base64), completePath, size)).toEqual({
          rest: bodyOf((_, index) => String(index)),
          contents: files.map(([, bytes]) => Buffer.from(bytes).toString("latin1")),
        });
      },
    ),
    { numRuns: 200 },
  );
});

test("malformed JSON in the rest stays malformed", () => {
  for (const body of [
    '{"content_base64":"aGk="',
    '{"content_base64":1 "aGk="}',
    '{"content_base64":"aGk="}}',
    '{"content_base64":"aGk=" "b":1}',
    '{"content_base64":"aGk=',
  ]) {
    expect(() => JSON.parse(take(body).rest) as unknown).toThrow(SyntaxError);
  }
});
