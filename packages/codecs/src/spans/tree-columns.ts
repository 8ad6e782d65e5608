import { createByteReader, createByteWriter, WHOLE_MAX, codecError } from "../bytes.ts";
import { pack, unpack } from "./pack.ts";
import { newSpanRecord, NONE, type SpanRecord } from "./span-record.ts";

/*
 * The records of a segment, one after another, behind a dictionary of their texts. Ids take eight bytes, because nothing makes them shorter; a
 * parent among the ids before it is a number. Times are differences: a start from the start before it, an end from its start.
 *
 *   version, number of records, number of texts, the texts (the first one is empty), then for each record:
 *   flags, kind and status, more flags where a flag says so, the id, and what the flags announce, in the order of `FLAG`
 */
const VERSION = 1;

/** Bits of the first number of a record. */
const FLAG = {
  parent: 1,
  /** The parent is one of the ids before; otherwise its eight bytes follow. */
  knownParent: 2,
  end: 4,
  /** The sequence is the end (spans that arrive with their ends as sequences). */
  seqIsEnd: 8,
  duration: 16,
  content: 32,
  texts: 64,
  more: 128,
} as const;

/** Bits of the second number, for what few records have. */
const MORE = {
  step: 1,
  rank: 2,
  previews: 4,
  truncated: 8,
  inputTokens: 16,
  outputTokens: 32,
  cost: 64,
  rewards: 128,
  redaction: 256,
  /** Sequences of origin differ from the record's own. */
  origins: 512,
} as const;

/** `REDACTION_STATE_NOT_CAPTURED`, which nearly all spans have. */
const USUAL_REDACTION = 1;
/** Statuses are below. */
const STATUSES = 8;

/** Collects the records of a segment. */
export type TreeWriter = {
  /** Adds a record; it may be changed afterwards. */
  add(record: SpanRecord): void;
  readonly count: number;
  /** Returns the segment's tree columns, packed. */
  done(): Uint8Array;
};

/** Creates an empty segment. */
export function createTreeWriter(): TreeWriter {
  const out = createByteWriter(2048);
  const texts = new Map<string, number>([["", 0]]);
  const places = new Map<string, number>();
  let count = 0;
  let startBefore = 0;
  let seqBefore = 0;

  const textNumber = (text: string): number => {
    let number = texts.get(text);
    if (number === undefined) {
      number = texts.size;
      texts.set(text, number);
    }
    return number;
  };

  return {
    add(record) {
      const parentPlace = places.get(`${record.parentHigh}.${record.parentLow}`);
      const flags = flagsOf(record, parentPlace !== undefined);
      out.unsigned(flags);
      out.unsigned(record.kind * STATUSES + record.status);
      const more = (flags & FLAG.more) === 0 ? 0 : moreOf(record);
      if (more > 0) out.unsigned(more);
      out.uint32(record.idHigh);
      out.uint32(record.idLow);
      if (parentPlace !== undefined && (flags & FLAG.parent) > 0) out.unsigned(count - parentPlace);
      else if ((flags & FLAG.parent) > 0) {
        out.uint32(record.parentHigh);
        out.uint32(record.parentLow);
      }
      writeAgainst(out, record.startUs, startBefore);
      if ((flags & FLAG.end) > 0) writeAgainst(out, record.endUs, record.startUs);
      if ((flags & FLAG.seqIsEnd) === 0) writeAgainst(out, record.seq, seqBefore);
      if ((flags & FLAG.duration) > 0) out.number(record.durationMs);
      out.unsigned(textNumber(record.name));
      if ((flags & FLAG.texts) > 0) {
        out.unsigned(textNumber(record.threadId));
        out.unsigned(textNumber(record.rolloutId));
      }
      out.unsigned(record.payloadBytes);
      if ((more & MORE.step) > 0) out.number(record.step);
      if ((more & MORE.rank) > 0) out.number(record.rank);
      if ((more & MORE.inputTokens) > 0) out.number(record.inputTokens);
      if ((more & MORE.outputTokens) > 0) out.number(record.outputTokens);
      if ((more & MORE.cost) > 0) out.number(record.costUsd);
      if ((more & MORE.rewards) > 0) {
        out.unsigned(record.rewards.length);
        for (const [key, value] of record.rewards) {
          out.unsigned(textNumber(key));
          out.number(value);
        }
      }
      if ((more & MORE.redaction) > 0) out.unsigned(record.redaction);
      if ((more & MORE.origins) > 0) for (const seq of originsOf(record)) out.number(seq);
      places.set(`${record.idHigh}.${record.idLow}`, count);
      count += 1;
      startBefore = record.startUs;
      seqBefore = record.seq;
    },
    get count() {
      return count;
    },
    done() {
      const head = createByteWriter(256);
      head.byte(VERSION);
      head.unsigned(count);
      head.unsigned(texts.size);
      for (const text of texts.keys()) head.text(text);
      return pack(Buffer.concat([head.done(), out.done()]));
    },
  };
}

/**
 * Reads the tree columns of a segment and passes on its records in their order. The record is the same object each time.
 * @throws SpanCodecError
 */
export function readTree(packed: Uint8Array, take: (record: SpanRecord, place: number) => void): void {
  const from = createByteReader(unpack(packed));
  if (from.byte() !== VERSION) throw codecError("a segment has an unknown version");
  const count = from.unsigned();
  const texts = Array.from({ length: bounded(from.unsigned(), from.left()) }, () => from.text());
  const text = (): string => {
    const found = texts[from.unsigned()];
    if (found === undefined) throw codecError("a text of a segment is missing");
    return found;
  };
  const ids = new Uint32Array(2 * bounded(count, from.left()));
  const record = newSpanRecord();
  let startBefore = 0;
  let seqBefore = 0;
  for (let place = 0; place < count; place++) {
    const flags = from.unsigned();
    const kindAndStatus = from.unsigned();
    const more = (flags & FLAG.more) > 0 ? from.unsigned() : 0;
    record.kind = Math.floor(kindAndStatus / STATUSES);
    record.status = kindAndStatus % STATUSES;
    record.idHigh = from.uint32();
    record.idLow = from.uint32();
    if ((flags & FLAG.knownParent) > 0) {
      const parent = place - from.unsigned();
      if (!(parent >= 0)) throw codecError("a parent of a segment is missing");
      record.parentHigh = ids[2 * parent]!;
      record.parentLow = ids[2 * parent + 1]!;
    } else {
      record.parentHigh = (flags & FLAG.parent) > 0 ? from.uint32() : 0;
      record.parentLow = (flags & FLAG.parent) > 0 ? from.uint32() : 0;
    }
    record.startUs = readAgainst(from, startBefore);
    record.endUs = (flags & FLAG.end) > 0 ? readAgainst(from, record.startUs) : Number.NaN;
    record.seq = (flags & FLAG.seqIsEnd) > 0 ? record.endUs : readAgainst(from, seqBefore);
    record.durationMs = (flags & FLAG.duration) > 0 ? from.number() : Number.NaN;
    record.name = text();
    record.threadId = (flags & FLAG.texts) > 0 ? text() : "";
    record.rolloutId = (flags & FLAG.texts) > 0 ? text() : "";
    record.payloadBytes = from.unsigned();
    record.hasContent = (flags & FLAG.content) > 0;
    record.step = (more & MORE.step) > 0 ? from.number() : Number.NaN;
    record.rank = (more & MORE.rank) > 0 ? from.number() : Number.NaN;
    record.inputTokens = (more & MORE.inputTokens) > 0 ? from.number() : Number.NaN;
    record.outputTokens = (more & MORE.outputTokens) > 0 ? from.number() : Number.NaN;
    record.costUsd = (more & MORE.cost) > 0 ? from.number() : Number.NaN;
    record.rewards = [];
    if ((more & MORE.rewards) > 0) {
      const length = bounded(from.unsigned(), from.left());
      record.rewards = Array.from({ length }, (): [string, number] => [text(), from.number()]);
    }
    record.hasPreviews = (more & MORE.previews) > 0;
    record.isTruncated = (more & MORE.truncated) > 0;
    record.redaction = (more & MORE.redaction) > 0 ? from.unsigned() : USUAL_REDACTION;
    const isFolded = (more & MORE.origins) > 0;
    const origin = (isPresent: boolean): number => (isFolded ? from.number() : isPresent ? record.seq : NONE);
    record.parentSeq = origin((flags & FLAG.parent) > 0);
    record.endSeq = origin((flags & FLAG.end) > 0);
    record.durationSeq = origin((flags & FLAG.duration) > 0);
    record.stepSeq = origin((more & MORE.step) > 0);
    record.rankSeq = origin((more & MORE.rank) > 0);
    ids[2 * place] = record.idHigh;
    ids[2 * place + 1] = record.idLow;
    startBefore = record.startUs;
    seqBefore = record.seq;
    take(record, place);
  }
}

function flagsOf(record: SpanRecord, isParentKnown: boolean): number {
  const hasParent = record.parentSeq !== NONE;
  return (
    (hasParent ? FLAG.parent : 0) +
    (hasParent && isParentKnown ? FLAG.knownParent : 0) +
    (record.endSeq === NONE ? 0 : FLAG.end) +
    (record.endSeq !== NONE && record.seq === record.endUs ? FLAG.seqIsEnd : 0) +
    (record.durationSeq === NONE ? 0 : FLAG.duration) +
    (record.hasContent ? FLAG.content : 0) +
    (record.threadId === "" && record.rolloutId === "" ? 0 : FLAG.texts) +
    (moreOf(record) === 0 ? 0 : FLAG.more)
  );
}

function moreOf(record: SpanRecord): number {
  return (
    (record.stepSeq === NONE ? 0 : MORE.step) +
    (record.rankSeq === NONE ? 0 : MORE.rank) +
    (record.hasPreviews ? MORE.previews : 0) +
    (record.isTruncated ? MORE.truncated : 0) +
    (Number.isNaN(record.inputTokens) ? 0 : MORE.inputTokens) +
    (Number.isNaN(record.outputTokens) ? 0 : MORE.outputTokens) +
    (Number.isNaN(record.costUsd) ? 0 : MORE.cost) +
    (record.rewards.length === 0 ? 0 : MORE.rewards) +
    (record.redaction === USUAL_REDACTION ? 0 : MORE.redaction) +
    (originsOf(record).every((seq) => seq === NONE || seq === record.seq) ? 0 : MORE.origins)
  );
}

function originsOf(record: SpanRecord): readonly number[] {
  return [record.parentSeq, record.endSeq, record.durationSeq, record.stepSeq, record.rankSeq];
}

/** Writes a number as its difference from another one, unless doubles cannot hold the difference: then a mark and the number itself. */
function writeAgainst(out: ReturnType<typeof createByteWriter>, value: number, before: number): void {
  if (isNarrow(value) && isNarrow(before)) out.number(value - before);
  else {
    out.number(Number.NaN);
    out.double(value);
  }
}

function readAgainst(from: ReturnType<typeof createByteReader>, before: number): number {
  const difference = from.number();
  return Number.isNaN(difference) ? from.double() : before + difference;
}

function isNarrow(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < WHOLE_MAX;
}

/** Returns a count, if that many things can follow in the bytes that are left. @throws SpanCodecError */
function bounded(count: number, bytesLeft: number): number {
  if (count > bytesLeft) throw codecError("a segment announces more than it holds");
  return count;
}
