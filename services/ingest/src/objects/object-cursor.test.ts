import { expect, test } from "@jest/globals";
import { readObjectCursor, writeObjectCursor } from "./object-cursor.ts";

const position = { step: 2.5, createdAt: "2026-01-05T10:00:00.123456Z", id: 18 };

test.each([
  ["a step", position],
  ["no step", { ...position, step: Number.NEGATIVE_INFINITY }],
  ["a time without a fraction", { ...position, createdAt: "2026-01-05T10:00:00Z" }],
])("the cursor of an object with %s is read as it was written", (_, one) => {
  expect(readObjectCursor(writeObjectCursor(one))).toEqual(one);
});

const cursorOf = (fields: unknown): string => Buffer.from(JSON.stringify(fields)).toString("base64url");

test.each([
  ["fields too few", cursorOf([1, position.createdAt])],
  ["a negative step", cursorOf([-1, position.createdAt, 1])],
  ["a step that is a text", cursorOf(["1", position.createdAt, 1])],
  ["a time that no calendar has", cursorOf([1, "2026-02-30T10:00:00Z", 1])],
  ["a time that is none", cursorOf([1, "infinity", 1])],
  ["an id with a fraction", cursorOf([1, position.createdAt, 1.5])],
])("a cursor with %s is refused", (_, cursor) => {
  expect(() => readObjectCursor(cursor)).toThrow(
    expect.objectContaining({ reason: "object_explorer_invalid", field: "cursor" }),
  );
});
