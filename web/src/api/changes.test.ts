import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { createEventReader } from "./changes.ts";

const TEXT = ': hello\n\nid: 7\n\nid: 8\nevent: points\ndata: {"run_id":"r"}\n\nevent: reset\ndata: {}\n\n';

test("events, ids without an event and comments are distinguished", () => {
  expect(createEventReader()(TEXT)).toEqual([
    { name: "message", data: "", id: "7" },
    { name: "points", data: '{"run_id":"r"}', id: "8" },
    { name: "reset", data: "{}", id: undefined },
  ]);
});

test("it does not matter where the pieces end", () => {
  const whole = createEventReader()(TEXT);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: TEXT.length })), (cuts) => {
      const edges = [0, ...cuts.toSorted((a, b) => a - b), TEXT.length];
      const read = createEventReader();
      expect(edges.slice(1).flatMap((end, i) => read(TEXT.slice(edges[i], end)))).toEqual(whole);
    }),
  );
});

test("lines may end as on Windows, and data may have several", () => {
  expect(createEventReader()("data: a\r\ndata: b\r\n\r\n")).toEqual([{ name: "message", data: "a\nb", id: undefined }]);
});
