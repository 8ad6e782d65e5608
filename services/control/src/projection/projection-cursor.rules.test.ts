import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readCursor, writeCursor, type ProjectionCursor } from "./projection-cursor.rules.ts";

const xid = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const position = fc.record({
  xid,
  kind: fc.constantFrom("api_key", "organization", "session"),
  id: fc.oneof(fc.uuid(), fc.stringMatching(/^[0-9A-Za-z]{12}$/)),
});

test("a cursor is read back as it was written", () => {
  const cursors: fc.Arbitrary<ProjectionCursor> = fc.oneof(
    fc.record({ floor: xid }),
    fc.record({ floor: xid, pass: fc.record({ snapshot: fc.boolean(), after: position }) }),
  );
  fc.assert(fc.property(cursors, (cursor) => expect(readCursor(writeCursor(cursor))).toEqual(cursor)));
});

describe("an invalid cursor", () => {
  test.each([
    "",
    "1",
    "v1.",
    "v1.-1",
    "v2.1",
    "v1.1.s.1.api_key",
    "v1.1.x.1.api_key.a",
    "v1.1.s.1.user.a",
    "v1.1.s.1.session.a b",
  ])("such as %j starts over", (text) => expect(readCursor(text)).toBeUndefined());
});
