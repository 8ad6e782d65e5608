import { expect, test } from "@jest/globals";
import { tableCell } from "./table-cells.ts";

const ID = "0c9b8a1e-2222-4222-8333-444455556666";
const address = `/api/artifacts/${ID}/download`;

test.each([
  [undefined, { kind: "text", text: "" }],
  [0.1234567891, { kind: "number", text: "0.123457", full: "0.1234567891" }],
  [-3, { kind: "number", text: "-3" }],
  [12345678901234567891n, { kind: "number", text: "12345678901234567891" }],
  [true, { kind: "text", text: "true" }],
  [[1, 2], { kind: "text", text: "[1,2]" }],
  [{ artifact_id: ID.toUpperCase() }, { kind: "image", address, text: "" }],
  [
    { artifact_id: ID, kind: "audio", caption: "hi" },
    { kind: "audio", address, text: "hi" },
  ],
  [
    { artifact_id: ID, mime_type: "video/mp4" },
    { kind: "video", address, text: "" },
  ],
  [address, { kind: "image", address, text: "" }],
  ["data:image/png;base64,AAAA", { kind: "image", address: "data:image/png;base64,AAAA", text: "" }],
])("the cell %j is shown", (value, expected) => expect(tableCell(value)).toEqual(expected));

test.each([
  "https://elsewhere.test/x.png",
  "//elsewhere.test/x.png",
  "data:image/svg+xml;base64,AAAA",
  "javascript:alert(1)",
  `/api/artifacts/${ID}/download?x=1`,
])("%s is only a text", (value) => expect(tableCell(value)).toEqual({ kind: "text", text: value }));

test("an object that names no file is JSON, and a long text is cut", () => {
  expect(tableCell({ artifact_id: "../x" })).toEqual({ kind: "text", text: '{"artifact_id":"../x"}' });
  expect(tableCell("x".repeat(600)).text).toHaveLength(501);
});
