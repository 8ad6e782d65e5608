import { expect, test } from "@jest/globals";
import { createEmbedLimits, type EmbedLimits } from "./embed-limits.ts";

/** Returns how many of 1,000 calls are let through, then how many of 1,000 a second later. */
function counts(call: (limits: EmbedLimits, i: number) => void): number[] {
  let now = 0;
  const limits = createEmbedLimits(() => now);
  const allowed = (): number =>
    Array.from({ length: 1000 }, (_, i) => i).filter((i) => {
      try {
        call(limits, i);
        return true;
      } catch {
        return false;
      }
    }).length;
  const first = allowed();
  now += 1000;
  return [first, allowed()];
}

test.each<[string, (limits: EmbedLimits, i: number) => void, number[]]>([
  ["sessions that a key makes", (limits) => limits.countCreate("k"), [20, 0]],
  ["policies that an address reads", (limits) => limits.countPolicy("a"), [10, 1]],
  ["pages for an address", (limits) => limits.countPage("a"), [20, 5]],
  ["tokens of an address", (limits) => limits.countToken("a"), [20, 5]],
  ["tokens of the addresses of a network", (limits, i) => limits.countToken(`2001:db8::${i.toString(16)}`), [20, 5]],
  ["pages for the addresses of a network", (limits, i) => limits.countPage(`2001:db8::${i.toString(16)}`), [20, 5]],
  [
    "policies for the addresses of a network",
    (limits, i) => limits.countPolicy(`2001:db8::${i.toString(16)}`),
    [10, 1],
  ],
  ["tokens of everybody", (limits, i) => limits.countToken(String(i)), [500, 100]],
  ["reads of a session", (limits) => limits.countSession("data", "s"), [3, 1]],
  ["looks at a session", (limits) => limits.countSession("current", "s"), [10, 2]],
  ["reads by a share link", (limits) => limits.countLink("s"), [20, 2]],
  ["reads of many sessions", (limits, i) => limits.countSession("data", String(i)), [1000, 1000]],
])("%s are bounded", (_, call, expected) => expect(counts(call)).toEqual(expected));

test("a key can create twenty sessions a minute, and is told when it can create the next", () => {
  let now = 0;
  const limits = createEmbedLimits(() => now);
  for (let i = 0; i < 20; i += 1) limits.countCreate("k");
  expect(() => limits.countCreate("k")).toThrow(
    expect.objectContaining({ reason: "embed_create_rate_limited", retryAfterSeconds: 3 }),
  );
  limits.countCreate("another");
  now += 3000;
  limits.countCreate("k");
  expect(() => limits.countCreate("k")).toThrow("try again in 3 s");
});

test("pages of sessions that work do not count against their address", () => {
  const limits = createEmbedLimits(() => 0);
  for (let i = 0; i < 100; i += 1) {
    limits.countPage("a");
    limits.forgivePage("a");
  }
  for (let i = 0; i < 20; i += 1) limits.countPage("a");
  expect(() => limits.countPage("a")).toThrow(expect.objectContaining({ reason: "rate_limit_exceeded" }));
});

test("good tokens do not count against their address", () => {
  const limits = createEmbedLimits(() => 0);
  for (let i = 0; i < 100; i += 1) {
    limits.countToken("a");
    limits.forgiveToken("a");
  }
  for (let i = 0; i < 20; i += 1) limits.countToken("a");
  expect(() => limits.countToken("a")).toThrow(
    expect.objectContaining({ reason: "rate_limit_exceeded", retryAfterSeconds: 1 }),
  );
});
