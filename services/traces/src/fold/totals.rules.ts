import { SPAN_KINDS, SPAN_STATUSES, TRACE_LIMITS } from "@tidemark/limits";
import type { SpanRecord } from "@tidemark/codecs/spans";
import { createCycleSearch, findCycles } from "./cycles.rules.ts";
import { firstRewards } from "./rewards.rules.ts";
import { compareIds, statusNumber } from "./span-ids.rules.ts";
import { createSpanTable, MARK, type SpanTable } from "./span-table.rules.ts";

/** All totals of a trace that summaries need, updated with every record. Spans are numbers in the table; -1 stands for none. */
export type Totals = {
  spans: number;
  /** Spans by status, by their numbers. */
  readonly byStatus: Int32Array;
  /** Spans by kind, at the numbers of `SpanKind`. */
  readonly byKind: Int32Array;
  roots: number;
  /** Spans whose parent is not among the spans. */
  orphans: number;
  /** Chains of parents that lead back to their beginning. */
  cycles: number;
  withContent: number;
  truncated: number;
  inputTokens: number;
  outputTokens: number;
  /** In billionths, so that the sum does not depend on the order. */
  costNanos: bigint;
  withCost: number;
  /** The root that started first, of these the one with the lowest id. */
  firstRoot: number;
  /** The first among all spans, among those with a thread and among those with a rollout. */
  first: number;
  firstWithThread: number;
  firstWithRollout: number;
  lastEnd: number;
  minStep: number;
  maxStep: number;
  /** By key of the metrics that summaries keep: the span that started last of those that have it. At least all that a summary has room for. */
  readonly rewardSpans: Map<string, number>;
};

/** A trace in memory: its spans and their totals. */
export type TraceFold = {
  readonly table: SpanTable;
  readonly totals: Readonly<Totals>;
  /** Children of each span, as far as they are known. */
  childCount(span: number): number;
  /** Children of a parent that is not among the spans. */
  missingChildCount(high: number, low: number): number;
  /** Folds a record; see `SpanTable`. `settle` has to be called before anything is read. */
  fold(record: SpanRecord, segment: number, place: number): void;
  /** Brings the totals up to date after some records. */
  settle(): void;
  readonly bytes: number;
};

const NANO = 1e9;
/** One span counts at most this much, so that sums of whole numbers stay exact. */
const TOKENS_MAX = 1e10;
const COST_MAX = 1e6;
const MISSING_BYTES = 100;
/** More keys of rewards than a summary has room for, so that those beyond are seldom looked for. */
const REWARD_KEYS_MAX = 1024;

/** Creates a trace without spans. */
export function createTraceFold(): TraceFold {
  const table = createSpanTable();
  const { ids, columns } = table;
  const totals = newTotals();
  let children = new Uint32Array(16);
  const missing = new Map<string, number>();
  const cycles = createCycleSearch(table);
  /** An extreme may have got worse, so that all spans have to be looked at. */
  let isStale = false;
  /** Keys of rewards after this one are left out, because a summary has no room for them; undefined: none. */
  let lastReward: string | undefined;

  const keyOf = (high: number, low: number): string => `${high}.${low}`;
  const adopt = (high: number, low: number, change: 1 | -1): void => {
    const parent = ids.find(high, low);
    if (parent !== -1) {
      children[parent]! += change;
      return;
    }
    const key = keyOf(high, low);
    const left = (missing.get(key) ?? 0) + change;
    if (left === 0) missing.delete(key);
    else missing.set(key, left);
    totals.orphans += change;
  };
  /** Adds the counts of a span, or subtracts them. */
  const count = (span: number, change: 1 | -1): void => {
    totals.byStatus[columns.status[span]!]! += change;
    totals.byKind[columns.kind[span]!]! += change;
    const [high, low] = [columns.parentHigh[span]!, columns.parentLow[span]!];
    if (high === 0 && low === 0) totals.roots += change;
    else adopt(high, low, change);
    const marks = columns.marks[span]!;
    if ((marks & MARK.content) > 0) totals.withContent += change;
    if ((marks & MARK.truncated) > 0) totals.truncated += change;
    totals.inputTokens += change * tokens(columns.inputTokens[span]!);
    totals.outputTokens += change * tokens(columns.outputTokens[span]!);
    const cost = columns.cost[span]!;
    if (Number.isNaN(cost)) return;
    totals.withCost += change;
    totals.costNanos += BigInt(change * Math.round(Math.min(Math.max(cost, 0), COST_MAX) * NANO));
  };
  const isBefore = (span: number, other: number): boolean =>
    other === -1 || columns.start[span]! < columns.start[other]! || isTied(span, other);
  const isTied = (span: number, other: number): boolean =>
    columns.start[span] === columns.start[other] && compareIds(ids, span, other) < 0;
  /** Makes a span the extreme wherever it is one. */
  const compare = (span: number): void => {
    if (columns.parentHigh[span] === 0 && columns.parentLow[span] === 0 && isBefore(span, totals.firstRoot)) {
      totals.firstRoot = span;
    }
    if (isBefore(span, totals.first)) totals.first = span;
    if (columns.thread[span] !== 0 && isBefore(span, totals.firstWithThread)) totals.firstWithThread = span;
    if (columns.rollout[span] !== 0 && isBefore(span, totals.firstWithRollout)) totals.firstWithRollout = span;
    totals.lastEnd = greater(totals.lastEnd, columns.end[span]!);
    totals.maxStep = greater(totals.maxStep, columns.step[span]!);
    totals.minStep = -greater(-totals.minStep, -columns.step[span]!);
    for (const [key] of table.rewards.get(span) ?? []) {
      if (lastReward !== undefined && key > lastReward) continue;
      const holder = totals.rewardSpans.get(key);
      if (holder === undefined || (holder !== span && isBefore(holder, span))) totals.rewardSpans.set(key, span);
      if (totals.rewardSpans.size > REWARD_KEYS_MAX) dropLastRewards();
    }
  };
  const dropLastRewards = (): void => {
    const kept = firstRewards([...totals.rewardSpans], 1);
    totals.rewardSpans.clear();
    for (const [key, holder] of kept) totals.rewardSpans.set(key, holder);
    lastReward = kept.at(-1)![0];
  };
  const compareAll = (): void => {
    Object.assign(totals, {
      firstRoot: -1,
      first: -1,
      firstWithThread: -1,
      firstWithRollout: -1,
      lastEnd: Number.NaN,
      minStep: Number.NaN,
      maxStep: Number.NaN,
    });
    totals.rewardSpans.clear();
    lastReward = undefined;
    for (let span = 0; span < ids.count; span++) compare(span);
  };

  return {
    table,
    totals,
    childCount: (span) => children[span]!,
    missingChildCount: (high, low) => missing.get(keyOf(high, low)) ?? 0,
    fold(record, segment, place) {
      const known = ids.find(record.idHigh, record.idLow);
      if (known === -1) {
        const span = table.fold(record, segment, place);
        if (span === children.length) children = grown(children);
        totals.spans += 1;
        const key = keyOf(record.idHigh, record.idLow);
        const waiting = missing.get(key) ?? 0;
        missing.delete(key);
        totals.orphans -= waiting;
        children[span] = waiting;
        count(span, 1);
        compare(span);
        if (waiting > 0) cycles.suspect(span);
        return;
      }
      const before = extremesOf(table, known);
      count(known, -1);
      table.fold(record, segment, place);
      count(known, 1);
      const after = extremesOf(table, known);
      if (isWorse(before, after)) isStale = true;
      else compare(known);
      if (before.parentHigh !== after.parentHigh || before.parentLow !== after.parentLow) cycles.suspect(known);
    },
    settle() {
      if (isStale) compareAll();
      isStale = false;
      if (totals.cycles > 0 || cycles.found()) totals.cycles = findCycles(table).length;
      cycles.forget();
    },
    get bytes() {
      return table.bytes + children.byteLength + MISSING_BYTES * missing.size + 2000;
    },
  };
}

/** Returns the status of a trace from those of its spans (API specification, GET /api/traces). */
export function statusOf({ spans, byStatus }: Pick<Totals, "spans" | "byStatus">): number {
  if (byStatus[statusNumber("error")]! > 0) return statusNumber("error");
  if (byStatus[statusNumber("running")]! > 0) return statusNumber("running");
  if (byStatus[statusNumber("cancelled")]! > 0) return statusNumber("cancelled");
  return byStatus[statusNumber("interrupted")] === spans ? statusNumber("interrupted") : statusNumber("ok");
}

/** Returns a bit for each kind that has a span: bit 0 for number 1. */
export function kindBitsOf({ byKind }: Pick<Totals, "byKind">): number {
  return byKind.reduce((bits, spans, kind) => (spans > 0 ? bits | (1 << (kind - 1)) : bits), 0);
}

/** Returns whether a part of the trace is missing. */
export function isTruncated({ spans, truncated }: Pick<Totals, "spans" | "truncated">): boolean {
  return truncated > 0 || spans > TRACE_LIMITS.wholeSpansMax;
}

function newTotals(): Totals {
  return {
    spans: 0,
    byStatus: new Int32Array(SPAN_STATUSES.length + 1),
    byKind: new Int32Array(SPAN_KINDS.length + 1),
    roots: 0,
    orphans: 0,
    cycles: 0,
    withContent: 0,
    truncated: 0,
    inputTokens: 0,
    outputTokens: 0,
    costNanos: 0n,
    withCost: 0,
    firstRoot: -1,
    first: -1,
    firstWithThread: -1,
    firstWithRollout: -1,
    lastEnd: Number.NaN,
    minStep: Number.NaN,
    maxStep: Number.NaN,
    rewardSpans: new Map(),
  };
}

/** Returns the values by which a span may be an extreme. */
function extremesOf({ columns, rewards }: SpanTable, span: number) {
  return {
    parentHigh: columns.parentHigh[span]!,
    parentLow: columns.parentLow[span]!,
    start: columns.start[span]!,
    end: columns.end[span]!,
    step: columns.step[span]!,
    thread: columns.thread[span]!,
    rollout: columns.rollout[span]!,
    rewards: rewards.get(span),
  };
}

type Extremes = ReturnType<typeof extremesOf>;

/** Returns whether the span may have been an extreme and no longer be one. */
function isWorse(before: Extremes, after: Extremes): boolean {
  return (
    (before.parentHigh === 0 && before.parentLow === 0 && (after.parentHigh !== 0 || after.parentLow !== 0)) ||
    after.end < before.end ||
    (!Number.isNaN(before.step) && before.step !== after.step) ||
    (before.thread !== 0 && after.thread === 0) ||
    (before.rollout !== 0 && after.rollout === 0) ||
    (before.rewards !== undefined && (before.rewards !== after.rewards || before.start !== after.start))
  );
}

function tokens(value: number): number {
  return Number.isNaN(value) ? 0 : Math.round(Math.min(Math.max(value, 0), TOKENS_MAX));
}

/** Returns the greater number; NaN counts as none. */
function greater(a: number, b: number): number {
  if (Number.isNaN(a)) return b;
  return b > a ? b : a;
}

function grown(numbers: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * numbers.length);
  larger.set(numbers);
  return larger;
}
