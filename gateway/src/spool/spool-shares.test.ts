import { describe, expect, test } from "@jest/globals";
import { makeRoom, refusalOf, type Held } from "./spool-shares.rules.ts";

const bounds = { bytes: 1000, exports: 32 };
const [ONE, NOTHING] = [
  { bytes: 0, exports: 1 },
  { bytes: 100, exports: 0 },
] as const;
const held = (orgId: string, caller: string, bytes: number, isInUse: boolean): Held => ({
  orgId,
  caller,
  bytes,
  isInUse,
});
const many = (count: number, one: Held): Held[] => Array.from({ length: count }, () => ({ ...one }));

describe("room for an export", () => {
  test("is there while no one is at a bound", () => {
    expect(makeRoom([held("a", "1", 100, true)], { orgId: "a", caller: "1" }, ONE, bounds)).toEqual([]);
    expect(makeRoom([held("a", "1", 150, true)], { orgId: "a", caller: "1" }, NOTHING, bounds)).toEqual([]);
  });

  test("is freed from the files unused for the longest time, the caller's own first", () => {
    const [old, recent, foreign] = [held("a", "1", 1, false), held("a", "1", 1, false), held("b", "2", 1, false)];
    expect(makeRoom([foreign, old, recent], { orgId: "a", caller: "1" }, ONE, bounds)).toEqual([old]);
  });

  test.each([
    ["of a caller", many(2, held("a", "1", 1, true)), ONE, { whose: "caller", what: "exports", most: 2 }],
    [
      "of an organization",
      [...many(2, held("a", "2", 1, true)), ...many(2, held("a", "3", 1, true))],
      ONE,
      { whose: "organization", what: "exports", most: 4 },
    ],
    ["of all", many(32, held("b", "1", 1, true)), ONE, { whose: "everybody", what: "exports", most: 32 }],
    [
      "of an organization's bytes",
      [held("a", "2", 151, true)],
      NOTHING,
      { whose: "organization", what: "bytes", most: 250 },
    ],
    ["of all bytes", [held("b", "1", 901, true)], NOTHING, { whose: "everybody", what: "bytes", most: 1000 }],
  ])("is refused at the bound %s while everything is in use", (_whose, all, wish, refusal) => {
    const room = makeRoom(all, { orgId: "a", caller: "1" }, wish, bounds);
    expect(room).toEqual(refusal);
    const isOfAll = refusal.whose === "everybody";
    expect(refusalOf(refusal as Parameters<typeof refusalOf>[0])).toMatchObject({
      reason: isOfAll ? "service_unavailable" : "rate_limit_exceeded",
      retryAfterSeconds: 10,
    });
  });

  test("of another organization is not touched by one that is at its own share", () => {
    const foreign = held("b", "2", 100, false);
    expect(makeRoom([foreign, held("a", "1", 250, true)], { orgId: "a", caller: "1" }, NOTHING, bounds)).toMatchObject({
      whose: "organization",
    });
  });

  test("is left for others by all exports of one organization", () => {
    const full = many(4, held("a", "1", 62, true));
    expect(makeRoom(full, { orgId: "b", caller: "2" }, ONE, bounds)).toEqual([]);
    expect(makeRoom(full, { orgId: "b", caller: "2" }, NOTHING, bounds)).toEqual([]);
  });
});
