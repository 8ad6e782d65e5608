import { describe, expect, test } from "@jest/globals";
import { readPanelCursor, writePanelCursor } from "./list-reports.ts";

const createdAt = "2026-01-02T03:04:05.6Z";

describe("a cursor", () => {
  const id = "0a1b2c3d-0000-4000-8000-000000000001";

  test("is read back", () => {
    const start = { createdAt, id, skip: 3 };
    expect(readPanelCursor(writePanelCursor(start))).toEqual(start);
  });

  const of = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  test.each([
    ["garbage", "x"],
    ["no list", of({})],
    ["a place without a time", of(["now", id, 0])],
    ["a place that no calendar has", of(["2026-02-30T00:00:00Z", id, 0])],
    ["a place without an id", of([createdAt, "x", 0])],
    ["a negative number", of([createdAt, id, -1])],
    ["more than a place", of([createdAt, id, 0, 0])],
  ])("that is %s is refused", (_, cursor) => {
    expect(() => readPanelCursor(cursor)).toThrow(expect.objectContaining({ reason: "bad_request", field: "cursor" }));
  });
});
