import {
  comparePositions,
  countOf,
  messageBytesOf,
  newColumns,
  positionAt,
  sliceColumns,
  type LogColumns,
} from "./log-columns.ts";

/** Merges the lines of several blocks into one, in order. */
export function mergeColumns(parts: readonly LogColumns[]): LogColumns {
  const filled = parts.filter((part) => countOf(part) > 0);
  filled.sort((a, b) => comparePositions(positionAt(a, 0), positionAt(b, 0)));
  if (filled.length === 1) return filled[0]!;
  const whole = concatenate(filled);
  let runs = ascendingRuns(filled);
  if (runs.length <= 1) return whole;
  while (runs.length > 1) runs = mergePairs(runs, whole);
  return gather(whole, runs[0]!);
}

/** Cuts lines into blocks, in order. A block ends with the line that raises its weight to `weightMax`. */
export function cutColumns(columns: LogColumns, weightMax: number): LogColumns[] {
  const { offsets } = columns;
  const count = countOf(columns);
  const pieces: LogColumns[] = [];
  let from = 0;
  for (let to = 1; to <= count; to++) {
    if (weightOf(to - from, offsets[to]! - offsets[from]!) < weightMax && to < count) continue;
    pieces.push(sliceColumns(columns, from, to));
    from = to;
  }
  return pieces;
}

/** The weight of a line in addition to its message. */
const LINE_WEIGHT = 32;

/** Returns the weight of a block: about the bytes that it takes in memory. It bounds the number of lines as well as their bytes. */
export function weightOf(lines: number, messageBytes: number): number {
  return messageBytes + LINE_WEIGHT * lines;
}

function concatenate(parts: readonly LogColumns[]): LogColumns {
  const count = parts.reduce((sum, part) => sum + countOf(part), 0);
  const textBytes = parts.reduce((sum, part) => sum + messageBytesOf(part), 0);
  const whole = newColumns(count, textBytes);
  let at = 0;
  let textAt = 0;
  for (const part of parts) {
    const lines = countOf(part);
    const from = part.offsets[0]!;
    whole.lineNumbers.set(part.lineNumbers, at);
    whole.ids.set(part.ids, at);
    whole.createdUs.set(part.createdUs, at);
    whole.sentSeconds.set(part.sentSeconds, at);
    whole.sentMicros.set(part.sentMicros, at);
    whole.text.set(part.text.subarray(from, part.offsets[lines]), textAt);
    for (let i = 1; i <= lines; i++) whole.offsets[at + i] = textAt + part.offsets[i]! - from;
    at += lines;
    textAt += messageBytesOf(part);
  }
  return whole;
}

/** Returns indexes into the concatenated parts as ascending runs, as few as the overlaps of the parts allow; one run means that all is in order. */
function ascendingRuns(parts: readonly LogColumns[]): Uint32Array[] {
  const runs: { last: LogColumns; ranges: [from: number, to: number][] }[] = [];
  let at = 0;
  for (const part of parts) {
    const first = positionAt(part, 0);
    const range: [number, number] = [at, (at += countOf(part))];
    const run = runs.find(({ last }) => comparePositions(positionAt(last, countOf(last) - 1), first) < 0);
    if (run === undefined) runs.push({ last: part, ranges: [range] });
    else {
      run.last = part;
      run.ranges.push(range);
    }
  }
  return runs.map(({ ranges }) => {
    const indexes = new Uint32Array(ranges.reduce((sum, [from, to]) => sum + to - from, 0));
    let next = 0;
    for (const [from, to] of ranges) for (let i = from; i < to; i++) indexes[next++] = i;
    return indexes;
  });
}

function mergePairs(runs: readonly Uint32Array[], whole: LogColumns): Uint32Array[] {
  const merged: Uint32Array[] = [];
  for (let i = 0; i < runs.length; i += 2) {
    const other = runs[i + 1];
    merged.push(other === undefined ? runs[i]! : mergeTwo(runs[i]!, other, whole));
  }
  return merged;
}

function mergeTwo(a: Uint32Array, b: Uint32Array, { lineNumbers, ids }: LogColumns): Uint32Array {
  const merged = new Uint32Array(a.length + b.length);
  let to = 0;
  let from = 0;
  for (const right of b) {
    for (; from < a.length; from++) {
      const left = a[from]!;
      if ((lineNumbers[left]! - lineNumbers[right]! || ids[left]! - ids[right]!) > 0) break;
      merged[to++] = left;
    }
    merged[to++] = right;
  }
  merged.set(a.subarray(from), to);
  return merged;
}

/** Returns the lines at these indexes, in this order. */
function gather(whole: LogColumns, indexes: Uint32Array): LogColumns {
  const gathered = newColumns(indexes.length, whole.text.length);
  let end = 0;
  for (let i = 0; i < indexes.length; i++) {
    const from = indexes[i]!;
    gathered.lineNumbers[i] = whole.lineNumbers[from]!;
    gathered.ids[i] = whole.ids[from]!;
    gathered.createdUs[i] = whole.createdUs[from]!;
    gathered.sentSeconds[i] = whole.sentSeconds[from]!;
    gathered.sentMicros[i] = whole.sentMicros[from]!;
    const message = whole.text.subarray(whole.offsets[from], whole.offsets[from + 1]);
    gathered.text.set(message, end);
    gathered.offsets[i + 1] = end += message.length;
  }
  return gathered;
}
