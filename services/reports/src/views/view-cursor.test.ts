import { expect, test } from "@jest/globals";
import { readViewCursor, writeViewCursor } from "./get-view.ts";

const position = { updatedAt: "2026-01-02T03:04:05.678901Z", name: "a", id: "0a1b2c3d-0000-4000-8000-000000000001" };
const of = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

test("a cursor is read back", () => {
  expect(readViewCursor(writeViewCursor(position))).toEqual(position);
});

test.each([
  ["garbage", "x"],
  ["a number", "3"],
  ["no list", of({})],
  ["without a time", of(["now", position.name, position.id])],
  ["with a day that no calendar has", of(["2026-02-30T00:00:00Z", position.name, position.id])],
  ["without an id", of([position.updatedAt, position.name, "x"])],
  ["with a name that cannot be stored", of([position.updatedAt, "\0", position.id])],
  ["longer", of([...Object.values(position), 1])],
])("a cursor that is %s is refused", (_, cursor) => {
  expect(() => readViewCursor(cursor)).toThrow(expect.objectContaining({ reason: "bad_request", field: "cursor" }));
});
