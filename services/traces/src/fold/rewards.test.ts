import { expect, test } from "@jest/globals";
import { newSpanRecord, NONE, type SpanRecord } from "@tidemark/codecs/spans";
import { firstRewards } from "./rewards.rules.ts";
import { summarize } from "./summary.rules.ts";
import { createTraceFold } from "./totals.rules.ts";

type Rewards = SpanRecord["rewards"];

const fold = createTraceFold();
const put = (span: number, seq: number, rewards: Rewards): void => {
  const record = { ...newSpanRecord(), idLow: span + 1, seq, kind: 1, status: 2, rewards, parentSeq: NONE };
  fold.fold(record, 1, span);
  fold.settle();
};
const shown = (): Rewards => summarize(fold).rewardMetrics;
const rewardsOf = (count: number, nameOf: (i: number) => string): Rewards =>
  Array.from({ length: count }, (_, i) => [`reward.${nameOf(i)}`, i]);

test("of more rewards than a summary has room for those that sort first are kept, also when some of them go", () => {
  const spans = new Map<number, Rewards>();
  const expectFirst = (): void => expect(shown()).toEqual(firstRewards([...spans.values()].flat()));
  const set = (span: number, seq: number, rewards: Rewards): void => {
    spans.set(span, rewards);
    put(span, seq, rewards);
    expectFirst();
  };
  for (let span = 0; span < 8; span++)
    set(
      span,
      1,
      rewardsOf(400, (i) => `${(7919 * (span * 400 + i)) % 3200}`),
    );
  // It does not fit, so nothing after it does, regardless of what is added between.
  set(8, 1, [[`reward.2${"x".repeat(16_384)}`, 1]]);
  set(
    9,
    1,
    rewardsOf(3, (i) => `19999${i}`),
  );
  expect(fold.totals.rewardSpans.size).toBeLessThan(1100);
  set(3, 2, []);
  set(8, 2, []);
  set(
    0,
    2,
    rewardsOf(2, (i) => `a${i}`),
  );
});

test("a summary without room for the first reward has none", () => {
  expect(firstRewards([[`reward.${"x".repeat(16_384)}`, 1]])).toEqual([]);
  expect(firstRewards([[`reward.${"x".repeat(16_384)}`, 1]], 1)).toHaveLength(1);
});
