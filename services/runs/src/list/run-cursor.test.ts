import { describe, expect, test } from "@jest/globals";
import { readRunCursor, writeRunCursor } from "./run-cursor.ts";
import { RUN_SORTS } from "@tidemark/limits";
import type { RunOrder, RunPosition, RunSort } from "./run-list.rules.ts";

const createdAt = "2026-01-02T03:04:05.678901Z";
const id = "5b0c0000-0000-4000-8000-00000000000a";

/** Where a page of each order may end. */
const positions: Readonly<Record<RunSort, readonly Pick<RunPosition, "part" | "values">[]>> = {
  created: [{ part: "valued", values: [] }],
  name: [
    { part: "valued", values: ["calm-otter-3"] },
    { part: "valued", values: ['"\\\n\u{7F}é\u{212A}\u{1F600}'] },
    { part: "valued", values: ["n".repeat(1024)] },
    { part: "valued", values: ["\u{1}".repeat(1024)] },
  ],
  status: [
    { part: "valued", values: ["stopped", "calm-otter-3"] },
    { part: "valued", values: ["running", "running"] },
  ],
  duration: [
    { part: "valued", values: [0] },
    { part: "valued", values: [86_400_000_001] },
    { part: "valued", values: [-1] },
    { part: "rest", values: [] },
  ],
  "metric-latest": [
    { part: "valued", values: [0.1 + 0.2] },
    { part: "valued", values: [5e-324] },
    { part: "rest", values: [] },
  ],
  "metric-best": [
    { part: "valued", values: [-1.7976931348623157e308] },
    { part: "valued", values: [1e21] },
    { part: "rest", values: [] },
  ],
};

const orderOf = (sort: RunSort, metricKey = "eval/return_mean"): RunOrder => ({ sort, metricKey });
const cases = RUN_SORTS.flatMap((sort) =>
  positions[sort].map((part): [RunSort, RunPosition] => [sort, { ...part, createdAt, id }]),
);
const encode = (content: unknown): string => Buffer.from(JSON.stringify(content)).toString("base64url");
const refused = expect.objectContaining({ reason: "bad_request", field: "cursor" });

describe("a cursor", () => {
  test.each(cases)("of the order by %s is read back as it was written: %j", (sort, position) => {
    const cursor = writeRunCursor(orderOf(sort), position);
    expect(readRunCursor(cursor, orderOf(sort))).toEqual({ after: position });
    // It is put into a query unchanged.
    expect(cursor).toMatch(/^[\w-]+$/);
  });

  test.each(cases)("of the order by %s is refused by every other order: %j", (sort, position) => {
    const cursor = writeRunCursor(orderOf(sort), position);
    for (const other of RUN_SORTS.filter((name) => name !== sort)) {
      expect(() => readRunCursor(cursor, orderOf(other))).toThrow(refused);
    }
  });

  test.each(["metric-latest", "metric-best"] as const)("by %s is refused for another metric", (sort) => {
    const cursor = writeRunCursor(orderOf(sort, "loss"), { part: "valued", values: [1], createdAt, id });
    expect(() => readRunCursor(cursor, orderOf(sort, "Loss"))).toThrow(refused);
    expect(readRunCursor(cursor, orderOf(sort, "loss"))).toMatchObject({ after: { values: [1] } });
  });

  test.each(["created", "name", "status", "duration"] as const)("by %s holds for any metric", (sort) => {
    const [part] = positions[sort];
    const position = { ...part!, createdAt, id };
    const cursor = writeRunCursor(orderOf(sort, "loss"), position);
    expect(readRunCursor(cursor, orderOf(sort, "score"))).toEqual({ after: position });
  });

  test("of a value below zero by nothing is one of zero, as the database compares them", () => {
    const cursor = writeRunCursor(orderOf("metric-best"), { part: "valued", values: [-0], createdAt, id });
    expect(readRunCursor(cursor, orderOf("metric-best"))).toMatchObject({ after: { values: [0] } });
  });

  test.each(["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.6Z", "2024-02-29T23:59:59.999999Z"])(
    "holds the time %s as the database writes it",
    (time) => {
      const position: RunPosition = { part: "valued", values: [], createdAt: time, id };
      expect(readRunCursor(writeRunCursor(orderOf("created"), position), orderOf("created"))).toEqual({
        after: position,
      });
    },
  );
});

describe("offset:<n>", () => {
  test.each([
    ["offset:0", 0],
    ["offset:007", 7],
    ["offset:100", 100],
    ["offset:999999999999999", 999_999_999_999_999],
  ])("%s counts rows in every order", (cursor, offset) => {
    for (const sort of RUN_SORTS) expect(readRunCursor(cursor, orderOf(sort))).toEqual({ offset });
  });

  test.each([
    "offset:",
    "offset: 1",
    "offset:-1",
    "offset:+1",
    "offset:1.5",
    "offset:1e3",
    "offset:0x10",
    "offset:١",
    "offset:1\n",
    "offset:1000000000000000",
    "Offset:1",
    "offset=1",
    "100",
  ])("%j is refused", (cursor) => {
    expect(() => readRunCursor(cursor, orderOf("created"))).toThrow(refused);
  });
});

describe("an invalid cursor is 400 at cursor:", () => {
  const good = writeRunCursor(orderOf("name"), { part: "valued", values: ["calm"], createdAt, id });
  const fields = ["name", "", "valued", ["calm"], createdAt, id];
  const changed = (index: number, value: unknown): string => encode(fields.with(index, value as string));

  test.each<[what: string, cursor: string]>([
    ["a word", "garbage"],
    ["a blank", " "],
    ["an id", id],
    ["no base64", "%%%"],
    ["no JSON", Buffer.from("[").toString("base64url")],
    ["no UTF-8", Buffer.from([0xff, 0xfe]).toString("base64url")],
    ["a list of nothing", encode([])],
    ["an object", encode({ sort: "name" })],
    ["null", encode(null)],
    ["a number", encode(5)],
    ["padded", `${good}==`],
    ["in base64 with other letters", Buffer.from(JSON.stringify(fields)).toString("base64") + "="],
    ["with white space around", ` ${good} `],
    ["cut off", good.slice(0, -4)],
    ["longer than it was", `${good}AAAA`],
    ["of a megabyte", "A".repeat(1_000_000)],
    ["a good one a thousand times", good.repeat(1000)],
    ["with white space in its JSON", Buffer.from(JSON.stringify(fields, null, 1)).toString("base64url")],
    ["with a field more", encode([...fields, 1])],
    ["with a field less", encode(fields.slice(0, 5))],
    ["with another sort", changed(0, "created")],
    ["with an unknown sort", changed(0, "size")],
    ["with a metric where there is none", changed(1, "loss")],
    ["with an unknown part", changed(2, "all")],
    ["with no part", changed(2, null)],
    ["at the rest of an order that has none", encode(["name", "", "rest", [], createdAt, id])],
    ["with values that are not a list", changed(3, "calm")],
    ["without the value", changed(3, [])],
    ["with a value too many", changed(3, ["calm", "x"])],
    ["with a number for a text", changed(3, [1])],
    ["with null for a text", changed(3, [null])],
    ["with NUL in a text", changed(3, ["a\0b"])],
    ["with a name that no run can have", changed(3, ["n".repeat(1025)])],
    ["with an invalid time", changed(4, "yesterday")],
    ["with a number for the time", changed(4, 1)],
    ["with 30 February", changed(4, "2026-02-30T00:00:00Z")],
    ["with 29 February of a common year", changed(4, "2026-02-29T00:00:00Z")],
    ["with hour 24", changed(4, "2026-01-02T24:00:00Z")],
    ["with second 60", changed(4, "2026-01-02T23:59:60Z")],
    ["with month 13", changed(4, "2026-13-01T00:00:00Z")],
    ["with the year 0, which no calendar has", changed(4, "0000-01-01T00:00:00Z")],
    ["with a year beyond four digits", changed(4, "+012026-01-02T03:04:05Z")],
    ["with a time of another zone", changed(4, "2026-01-02T03:04:05+01:00")],
    ["with nanoseconds", changed(4, "2026-01-02T03:04:05.6789012Z")],
    ["with infinity for the time", changed(4, "infinity")],
    ["with an invalid id", changed(5, "5b0c")],
    ["with an id in capitals", changed(5, id.toUpperCase())],
    ["with a list for the id", changed(5, [id])],
  ])("%s", (_what, cursor) => {
    expect(() => readRunCursor(cursor, orderOf("name"))).toThrow(refused);
  });

  test.each<[what: string, sort: RunSort, values: string]>([
    ["a text for a duration", "duration", '["1"]'],
    ["half a microsecond", "duration", "[0.5]"],
    ["a duration beyond what the database can hold", "duration", "[1e+300]"],
    ["a duration beyond exact numbers", "duration", "[9007199254740992]"],
    ["a value beyond doubles", "metric-best", "[1e400]"],
    ["a value in another notation", "metric-best", "[1.0]"],
    ["minus zero", "metric-best", "[-0]"],
    ["true for a value", "metric-latest", "[true]"],
    ["no value", "metric-latest", "[]"],
  ])("%s", (_what, sort, values) => {
    const key = sort.startsWith("metric-") ? "eval/return_mean" : "";
    const text = `["${sort}","${key}","valued",${values},"${createdAt}","${id}"]`;
    expect(() => readRunCursor(Buffer.from(text).toString("base64url"), orderOf(sort))).toThrow(refused);
  });

  test("an unknown status, which would only find another position", () => {
    const cursor = encode(["status", "", "valued", ["paused", "calm"], createdAt, id]);
    expect(() => readRunCursor(cursor, orderOf("status"))).toThrow(refused);
  });

  test("values in the rest", () => {
    const cursor = encode(["duration", "", "rest", [1], createdAt, id]);
    expect(() => readRunCursor(cursor, orderOf("duration"))).toThrow(refused);
  });
});
