import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { hashUserCode, judgeApproval, judgePoll, newUserCode, type DeviceLogin } from "./device-login.rules.ts";

const now = new Date("2026-01-01T00:00:00Z");
const at = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);
const login = (part: Partial<DeviceLogin>): DeviceLogin => ({
  status: "pending",
  expiresAt: at(900),
  lastPolledAt: undefined,
  ...part,
});

describe("a user code", () => {
  test("uses every letter of its alphabet and none that people confuse", () => {
    const letters = new Set<string>();
    for (let times = 0; times < 400; times += 1) {
      const code = newUserCode(randomBytes);
      expect(code).toMatch(/^[A-Z2-9]{4}-[A-Z2-9]{4}$/);
      for (const letter of code.replace("-", "")) letters.add(letter);
    }
    expect(letters.size).toBe(32);
    for (const letter of "01IO") expect(letters).not.toContain(letter);
  });

  test.each(["ABCD-EFGH", "abcd-efgh", " abcdefgh ", "AB CD EF GH"])("typed as %j is the same code", (typed) => {
    expect(hashUserCode(typed)).toEqual(hashUserCode("ABCD-EFGH"));
  });

  test("that differs is another code", () => expect(hashUserCode("ABCD-EFGX")).not.toEqual(hashUserCode("ABCD-EFGH")));
});

test.each<[string, Partial<DeviceLogin>, ReturnType<typeof judgePoll>]>([
  ["a first poll", {}, "pending"],
  ["a poll at the interval", { lastPolledAt: at(-5) }, "pending"],
  ["a poll a little early", { lastPolledAt: at(-2.5) }, "pending"],
  ["a poll much too early", { lastPolledAt: at(-2.4) }, "too_fast"],
  ["a poll after the approval, however early", { status: "approved", lastPolledAt: at(0) }, "approved"],
  ["a poll after the key was handed out", { status: "finished" }, "expired"],
  ["a poll at the end", { expiresAt: now }, "expired"],
  ["a poll after the end of an approved login", { status: "approved", expiresAt: at(-1) }, "expired"],
])("%s has its outcome", (_, part, outcome) => expect(judgePoll(login(part), now)).toBe(outcome));

test.each<[string, DeviceLogin | undefined, ReturnType<typeof judgeApproval>]>([
  ["an unknown code", undefined, "unknown"],
  ["a code that ran out", login({ expiresAt: now }), "unknown"],
  ["an open code", login({}), "open"],
  ["an approved code", login({ status: "approved" }), "used"],
  ["a finished code", login({ status: "finished" }), "used"],
])("approving %s has its outcome", (_, row, outcome) => expect(judgeApproval(row, now)).toBe(outcome));
