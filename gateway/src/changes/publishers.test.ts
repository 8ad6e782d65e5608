import fc from "fast-check";
import { expect, test } from "@jest/globals";
import { messageOf, PUBLISHERS } from "./change-hub.fixture.ts";
import { createPublishers, endOf, numberOf, readPosition, SILENT_MS, writePosition } from "./publishers.rules.ts";

const [A, B] = PUBLISHERS;

test("messages that name the one before them follow without a gap", () => {
  const publishers = createPublishers(0);
  expect(publishers.take(messageOf(A, 0, 1), 60_000)).toBe("next");
  expect(publishers.take(messageOf(A, 1, 900), 60_900)).toBe("next");
  expect(publishers.take(messageOf(B, 0, 5), 60_950)).toBe("next");
  expect(publishers.position()).toEqual(
    new Map([
      [A, endOf(900)],
      [B, endOf(5)],
    ]),
  );
  expect(publishers.floorOf(A)).toBe(0);
});

test("a message that names one that was not received is behind a gap, and so is a publisher in the middle of its life", () => {
  const publishers = createPublishers(0);
  publishers.take(messageOf(A, 0, 1), 60_000);
  expect(publishers.take(messageOf(A, 700, 900), 60_900)).toBe("gap");
  expect(publishers.floorOf(A)).toBe(endOf(700));
  expect(publishers.take(messageOf(B, 700, 900), 60_900)).toBe("gap");
  expect(publishers.take(messageOf(A, 900, 901), 61_000)).toBe("next");
});

test("a gateway that has just begun learns who is there", () => {
  const publishers = createPublishers(60_000);
  expect(publishers.take(messageOf(A, 700, 900), 62_999)).toBe("next");
  expect(publishers.floorOf(A)).toBe(endOf(700));
  expect(publishers.take(messageOf(B, 700, 900), 63_000)).toBe("gap");
});

test("a message that arrives again is old, and changes nothing", () => {
  const publishers = createPublishers(0);
  publishers.take(messageOf(A, 0, 1), 0);
  publishers.take(messageOf(A, 1, 5), 0);
  const position = publishers.position();
  expect(publishers.take(messageOf(A, 1, 5), 1)).toBe("old");
  expect(publishers.take(messageOf(A, 0, 1), 1)).toBe("old");
  expect(publishers.position()).toBe(position);
});

test("a publisher that falls silent has died; one that ended has not, and is named for a while", () => {
  const publishers = createPublishers(0);
  publishers.take(messageOf(A, 0, 1), 0);
  publishers.take(messageOf(B, 0, 1, [], true), 0);
  expect(publishers.dropSilent(SILENT_MS - 1)).toBe(false);
  expect(publishers.dropSilent(SILENT_MS)).toBe(true);
  expect(publishers.dropSilent(SILENT_MS)).toBe(false);
  expect([...publishers.position().keys()]).toEqual([B]);
  expect(publishers.floorOf(A)).toBeUndefined();
  expect(publishers.dropSilent(5 * 60_000)).toBe(false);
  expect(publishers.position().size).toBe(0);
  // It was only delayed: its announcements meanwhile are lost.
  expect(publishers.take(messageOf(A, 1, 900), 5 * 60_000)).toBe("gap");
});

test("silence is counted from the start again after a time in which nothing could be received", () => {
  const publishers = createPublishers(0);
  publishers.take(messageOf(A, 0, 1), 0);
  publishers.forgive(3000);
  expect(publishers.dropSilent(3000 + SILENT_MS - 1)).toBe(false);
  expect(publishers.dropSilent(3000 + SILENT_MS)).toBe(true);
});

test("forgotten changes move the floor, which never decreases", () => {
  const publishers = createPublishers(0);
  publishers.take(messageOf(A, 0, 9), 0);
  publishers.forgot(A, 500);
  publishers.forgot(A, 400);
  publishers.forgot(B, 400);
  expect([publishers.floorOf(A), publishers.floorOf(B)]).toEqual([500, undefined]);
});

test("a position that was written is read as it was", () => {
  const publisher = fc.array(fc.constantFrom(..."0123456789abcdef".split("")), { minLength: 12, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(fc.tuple(publisher, fc.maxSafeNat()), { maxLength: 20 }), (parts) => {
      const position = new Map(parts.map(([id, number]) => [id.join(""), number]));
      expect(readPosition(writePosition(position))).toEqual(position);
    }),
  );
});

test.each([
  "",
  "1",
  "00",
  "aaaaaaaaaaaa",
  "aaaaaaaaaaaa-",
  "aaaaaaaaaaaa_1",
  "AAAAAAAAAAAA-1",
  "aaaaaaaaaaaa-1.",
  ".aaaaaaaaaaaa-1",
  "aaaaaaaaaaaa--1",
  "aaaaaaaaaaaa-1 ",
  "aaaaaaaaaaaa-zzzzzzzzzzz",
  "aaaaaaaaaaaa-1.aaaaaaaaaaaa",
  Array.from({ length: 300 }, () => "aaaaaaaaaaaa-1").join("."),
])("%j is not a position", (text) => {
  expect(readPosition(text)).toBeUndefined();
});

test("numbers ascend within a message and lie between the ends of the ticks", () => {
  expect(endOf(0)).toBe(0);
  const numbers = [endOf(6), numberOf(7, 0), numberOf(7, 1), numberOf(7, 1022), endOf(7), numberOf(8, 0)];
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numberOf(7, 5000)).toBeLessThan(endOf(7));
});
