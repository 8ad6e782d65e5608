import { expect, test } from "@jest/globals";
import { isText, prettyJson, previewKind } from "./preview.ts";

test.each([
  ["image/png", "a", 5, "image"],
  ["image/svg+xml", "a.svg", 5, "image"],
  ["image/png", "a", 30_000_000, "none"],
  ["application/octet-stream", "a.png", 5, "none"],
  ["text/html", "evil.html", 5, "text"],
  ["application/json; charset=utf-8", "a", 5, "json"],
  ["application/octet-stream", "conf.yaml", 5, "text"],
  ["video/mp4", "a", 5, "video"],
  ["audio/wav", "a", null, "audio"],
  [null, "weights.bin", 5, "none"],
])("%s %s of %s bytes is shown as %s", (type, name, bytes, kind) => expect(previewKind(type, name, bytes)).toBe(kind));

test("JSON is indented where it is whole", () => {
  expect(prettyJson('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(prettyJson("[9007199254740993,1.0]")).toBe("[\n  9007199254740993,\n  1.0\n]");
  expect(prettyJson('{"a":')).toBe('{"a":');
});

test("bytes with zeros are not text", () => {
  expect(isText(new TextEncoder().encode("abc"))).toBe(true);
  expect(isText(new Uint8Array([65, 0, 66]))).toBe(false);
});
