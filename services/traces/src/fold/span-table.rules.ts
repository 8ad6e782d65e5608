import { NONE, type SpanRecord } from "@tidemark/codecs/spans";
import { createSpanIds, type SpanIds } from "./span-ids.rules.ts";

/** Where the payload of a span is: a record of a segment. */
export type PayloadPlace = { readonly segment: number; readonly place: number };

/** Fields that keep the last value that an event named, regardless of the event that the other fields are from. */
const KEPT = ["parent", "end", "duration", "step", "rank"] as const;

/** Sequences of the events that named the kept fields. */
type Origins = [parent: number, end: number, duration: number, step: number, rank: number];

/** The spans of a trace as columns, without payloads: about 140 bytes a span. A span is the number of its place in them. */
export type SpanTable = {
  readonly ids: SpanIds;
  readonly columns: Columns;
  /** Names, threads and rollouts; the first one is empty. */
  readonly texts: readonly string[];
  /** Metrics that summaries keep, of the spans that have some. */
  readonly rewards: ReadonlyMap<number, SpanRecord["rewards"]>;
  /**
   * Folds a record into its span, as if its events had arrived after all others: the event with the highest sequence wins, of equal ones the record's.
   * Returns the number of the span.
   */
  fold(record: SpanRecord, segment: number, place: number): number;
  /** Fills a record with a span. */
  read(span: number, record: SpanRecord): void;
  readonly bytes: number;
};

/** The columns. Both halves of a parent are 0 where there is none; NaN stands for an absent number. */
export type Columns = {
  seq: Float64Array;
  parentHigh: Uint32Array;
  parentLow: Uint32Array;
  start: Float64Array;
  end: Float64Array;
  duration: Float64Array;
  step: Float64Array;
  rank: Float64Array;
  inputTokens: Float64Array;
  outputTokens: Float64Array;
  cost: Float64Array;
  kind: Uint8Array;
  status: Uint8Array;
  /** Bits of `MARK`, and the redaction state above them. */
  marks: Uint8Array;
  name: Uint32Array;
  thread: Uint32Array;
  rollout: Uint32Array;
  segment: Float64Array;
  place: Uint32Array;
  payloadBytes: Uint32Array;
};

/** Bits of `marks`. */
export const MARK = { previews: 1, truncated: 2, content: 4 } as const;
const REDACTION_SHIFT = 3;

const CAPACITY_MIN = 16;
const TEXT_BYTES = 80;
const ENTRY_BYTES = 120;

/** Creates an empty table. */
export function createSpanTable(): SpanTable {
  const ids = createSpanIds();
  let capacity = CAPACITY_MIN;
  const columns = newColumns(capacity);
  const texts: string[] = [""];
  const textNumbers = new Map<string, number>([["", 0]]);
  let textBytes = 0;
  /** Of the spans with a kept field that is older than the rest. */
  const origins = new Map<number, Origins>();
  const rewards = new Map<number, SpanRecord["rewards"]>();
  let rewardCount = 0;

  const textNumber = (text: string): number => {
    let number = textNumbers.get(text);
    if (number === undefined) {
      number = texts.length;
      texts.push(text);
      textNumbers.set(text, number);
      textBytes += text.length + TEXT_BYTES;
    }
    return number;
  };
  const originsOf = (span: number): Origins => {
    const kept = origins.get(span);
    if (kept !== undefined) return [...kept];
    const seq = columns.seq[span]!;
    return [
      columns.parentHigh[span] === 0 && columns.parentLow[span] === 0 ? NONE : seq,
      ...([columns.end, columns.duration, columns.step, columns.rank] as const).map((column) =>
        Number.isNaN(column[span]) ? NONE : seq,
      ),
    ] as Origins;
  };
  const keepOrigins = (span: number, found: Origins): void => {
    const seq = columns.seq[span]!;
    if (found.every((origin) => origin === NONE || origin === seq)) origins.delete(span);
    else origins.set(span, found);
  };
  const setParent = (span: number, record: SpanRecord): void => {
    columns.parentHigh[span] = record.parentHigh;
    columns.parentLow[span] = record.parentLow;
  };
  const setKept = (span: number, at: number, record: SpanRecord): void => {
    if (at === 0) setParent(span, record);
    else if (at === 1) columns.end[span] = record.endUs;
    else if (at === 2) columns.duration[span] = record.durationMs;
    else if (at === 3) columns.step[span] = record.step;
    else columns.rank[span] = record.rank;
  };
  /** Sets the fields that the winning event alone decides. */
  const setWon = (span: number, record: SpanRecord, segment: number, place: number): void => {
    columns.seq[span] = record.seq;
    columns.kind[span] = record.kind;
    columns.status[span] = record.status;
    columns.marks[span] =
      (record.hasPreviews ? MARK.previews : 0) +
      (record.isTruncated ? MARK.truncated : 0) +
      (record.hasContent ? MARK.content : 0) +
      (record.redaction << REDACTION_SHIFT);
    columns.name[span] = textNumber(record.name);
    columns.thread[span] = textNumber(record.threadId);
    columns.rollout[span] = textNumber(record.rolloutId);
    columns.inputTokens[span] = record.inputTokens;
    columns.outputTokens[span] = record.outputTokens;
    columns.cost[span] = record.costUsd;
    rewardCount += record.rewards.length - (rewards.get(span)?.length ?? 0);
    if (record.rewards.length > 0) rewards.set(span, record.rewards);
    else rewards.delete(span);
    columns.segment[span] = segment;
    columns.place[span] = place;
    columns.payloadBytes[span] = record.payloadBytes;
  };
  const add = (record: SpanRecord): number => {
    const span = ids.add(record.idHigh, record.idLow);
    if (span === capacity) {
      capacity *= 2;
      growColumns(columns, capacity);
    }
    setParent(span, record);
    columns.start[span] = record.startUs;
    columns.end[span] = record.endUs;
    columns.duration[span] = record.durationMs;
    columns.step[span] = record.step;
    columns.rank[span] = record.rank;
    return span;
  };

  return {
    ids,
    columns,
    texts,
    rewards,
    fold(record, segment, place) {
      const known = ids.find(record.idHigh, record.idLow);
      const arrived: Origins = [record.parentSeq, record.endSeq, record.durationSeq, record.stepSeq, record.rankSeq];
      if (known === -1) {
        const span = add(record);
        setWon(span, record, segment, place);
        keepOrigins(span, arrived);
        return span;
      }
      const found = originsOf(known);
      for (let at = 0; at < KEPT.length; at++) {
        if (arrived[at] === NONE || arrived[at]! < found[at]!) continue;
        found[at] = arrived[at]!;
        setKept(known, at, record);
      }
      columns.start[known] = Math.min(columns.start[known]!, record.startUs);
      if (record.seq >= columns.seq[known]!) setWon(known, record, segment, place);
      keepOrigins(known, found);
      return known;
    },
    read(span, record) {
      const [parentSeq, endSeq, durationSeq, stepSeq, rankSeq] = originsOf(span);
      const marks = columns.marks[span]!;
      Object.assign(record, {
        idHigh: ids.high(span),
        idLow: ids.low(span),
        seq: columns.seq[span]!,
        parentHigh: columns.parentHigh[span]!,
        parentLow: columns.parentLow[span]!,
        parentSeq,
        startUs: columns.start[span]!,
        endUs: columns.end[span]!,
        endSeq,
        durationMs: columns.duration[span]!,
        durationSeq,
        step: columns.step[span]!,
        stepSeq,
        rank: columns.rank[span]!,
        rankSeq,
        kind: columns.kind[span]!,
        status: columns.status[span]!,
        redaction: marks >> REDACTION_SHIFT,
        hasPreviews: (marks & MARK.previews) > 0,
        isTruncated: (marks & MARK.truncated) > 0,
        hasContent: (marks & MARK.content) > 0,
        name: texts[columns.name[span]!]!,
        threadId: texts[columns.thread[span]!]!,
        rolloutId: texts[columns.rollout[span]!]!,
        inputTokens: columns.inputTokens[span]!,
        outputTokens: columns.outputTokens[span]!,
        costUsd: columns.cost[span]!,
        rewards: rewards.get(span) ?? [],
        payloadBytes: columns.payloadBytes[span]!,
      } satisfies SpanRecord);
    },
    get bytes() {
      const perSpan = Object.values(columns).reduce((sum, column) => sum + column.BYTES_PER_ELEMENT, 0);
      return capacity * perSpan + ids.bytes + textBytes + ENTRY_BYTES * (origins.size + rewardCount);
    },
  };
}

function newColumns(capacity: number): Columns {
  const doubles = () => new Float64Array(capacity);
  const words = () => new Uint32Array(capacity);
  const bytes = () => new Uint8Array(capacity);
  return {
    seq: doubles(),
    parentHigh: words(),
    parentLow: words(),
    start: doubles(),
    end: doubles(),
    duration: doubles(),
    step: doubles(),
    rank: doubles(),
    inputTokens: doubles(),
    outputTokens: doubles(),
    cost: doubles(),
    kind: bytes(),
    status: bytes(),
    marks: bytes(),
    name: words(),
    thread: words(),
    rollout: words(),
    segment: doubles(),
    place: words(),
    payloadBytes: words(),
  };
}

function growColumns(columns: Columns, capacity: number): void {
  const larger = newColumns(capacity);
  for (const name of Object.keys(columns) as (keyof Columns)[]) larger[name].set(columns[name]);
  Object.assign(columns, larger);
}
