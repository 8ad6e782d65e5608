import { describe, expect, test } from "@jest/globals";
import { blockColumnsOfSegment, decodeBlock, type BlockColumns } from "@tidemark/codecs/metrics";
import fc from "fast-check";
import { arrangeMetrics, type Arrangement } from "./arrange-metrics.ts";
import { sealedPoints, KEY_RANGE_RULES, type KeyRangeRules } from "./key-ranges.rules.ts";
import { createMemoryMetricStore, type MemoryMetricStore } from "./metric-block-store.fixture.ts";
import type { MetricPart } from "./metric-block-store.ts";

/** Blocks of a few points, so that short histories make many. */
const small: KeyRangeRules = { pointsMax: 64, valuesMax: 1024, childValuesMin: 16 };
const giveTurn = () => Promise.resolve();

/** The content of one request: all of these keys at some steps, but each only at every `gap`th step. */
type Request = { readonly keyIds: readonly number[]; readonly points: number; readonly gap: number };

/** A number that identifies its point and its key. */
const valueOf = (seq: number, point: number, keyId: number): number => seq * 1e9 + point * 1e6 + keyId;

/** The keys with a value at a point; at least one. */
const isAt = (gap: number, point: number, index: number): boolean => (point + index) % gap === 0 || index === 0;

function partOf(seq: number, { keyIds, points, gap }: Request): MetricPart {
  const ids = [...keyIds].sort((a, b) => a - b);
  const columns = ids.map((keyId, index) =>
    Array.from({ length: points }, (_, point) => point)
      .filter((point) => isAt(gap, point, index))
      .map((point) => ({ point, value: valueOf(seq, point, keyId) })),
  );
  const kept = ids.flatMap((keyId, i) => (columns[i]!.length > 0 ? [{ keyId, column: columns[i]! }] : []));
  const flat = kept.flatMap(({ column }) => column);
  const dense = flat.length === kept.length * points;
  const offsets = [0];
  for (const { column } of kept) offsets.push(offsets.at(-1)! + column.length);
  const landing = {
    keys: null,
    keyIds: Uint32Array.from(kept, ({ keyId }) => keyId),
    steps: Float64Array.from({ length: points }, (_, point) => (seq * 7 + point) % 50),
    timestampsUs: new Float64Array(0),
    offsets: dense ? new Uint32Array(0) : Uint32Array.from(offsets),
    pointIndexes: dense ? new Uint32Array(0) : Uint32Array.from(flat, ({ point }) => point),
    values: Float64Array.from(flat, ({ value }) => value),
  };
  return { firstSeq: seq, lastSeq: seq, columns: blockColumnsOfSegment(landing, seq) };
}

/** Adds the values of each key of some columns to those before them, in order. */
function collect(
  into: Map<number, string[]>,
  { keyIds, steps, receivedUs, offsets, pointIndexes, values }: BlockColumns,
) {
  keyIds.forEach((keyId, index) => {
    const dense = offsets.length === 0;
    const from = dense ? index * steps.length : offsets[index]!;
    const to = dense ? from + steps.length : offsets[index + 1]!;
    const series = into.get(keyId) ?? [];
    into.set(keyId, series);
    for (let i = from; i < to; i++) {
      const point = dense ? i - from : pointIndexes[i]!;
      series.push(`${receivedUs[point]!} ${steps[point]!} ${values[i]!}`);
    }
  });
}

function seriesIn(store: MemoryMetricStore): Map<number, string[]> {
  const series = new Map<number, string[]>();
  for (const { data } of store.stored()) collect(series, decodeBlock(data));
  return series;
}

const oneSegment = { segmentIds: [0], untidy: [], effort: "best", isComplete: false } as const;

async function arrange(store: MemoryMetricStore, rules: KeyRangeRules, first: Arrangement): Promise<void> {
  let work = first;
  for (let steps = 0; steps < 1000; steps++) {
    const arranged = await arrangeMetrics(store, rules, work, giveTurn);
    if (arranged === "lost") throw new Error("no other compactor is there");
    if (arranged.untidy.length === 0) return;
    work = { ...work, segmentIds: [], parts: [], untidy: arranged.untidy };
  }
  throw new Error("tidying does not end");
}

/** How many blocks each key range has of each width that may still be joined. */
function unsealed(store: MemoryMetricStore, rules: KeyRangeRules): number[] {
  const counts = new Map<string, number>();
  for (const { facts } of store.stored()) {
    const name = `${facts.firstKey}/${facts.width}`;
    const before = counts.get(name) ?? 0;
    counts.set(name, facts.points >= sealedPoints(rules) ? 0 : before + 1);
  }
  return [...counts.values()];
}

const classes = ({ pointsMax }: KeyRangeRules): number => Math.ceil(Math.log(pointsMax) / Math.log(4));

async function play(
  history: readonly (readonly Request[])[],
  rules: KeyRangeRules,
  lost = false,
): Promise<MemoryMetricStore> {
  const store = createMemoryMetricStore(rules);
  const wanted = new Map<number, string[]>();
  let seq = 0;
  for (const requests of history) {
    const parts = requests.map((request) => partOf((seq += 1), request));
    for (const { columns } of parts) collect(wanted, columns);
    // A killed compactor has left the rest undone, and no other compactor knows of it.
    if (lost) await arrangeMetrics(store, rules, { ...oneSegment, parts }, giveTurn);
    else await arrange(store, rules, { ...oneSegment, parts });
  }
  expect(seriesIn(store)).toEqual(wanted);
  return store;
}

const anyKeyIds = fc.oneof(
  fc.constant([0]),
  fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 6 }),
  fc.uniqueArray(fc.nat(400), { minLength: 1, maxLength: 40 }),
  fc.uniqueArray(fc.nat(9000), { minLength: 1, maxLength: 60 }),
  fc
    .record({ first: fc.nat(5000), count: fc.integer({ min: 1, max: 80 }) })
    .map(({ first, count }) => Array.from({ length: count }, (_, i) => first + i)),
);
const anyRequest: fc.Arbitrary<Request> = fc.record({
  keyIds: anyKeyIds,
  points: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 8 })),
  gap: fc.constantFrom(1, 1, 1, 2, 5),
});
const anyHistory = fc.oneof(
  fc.array(fc.array(anyRequest, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 40 }),
  // The same request again and again, as a training loop sends it.
  fc
    .tuple(anyRequest, fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 80 }))
    .map(([request, counts]) => counts.map((count) => Array.from({ length: count }, () => request))),
);

describe("blocks of metrics, after any writes", () => {
  test("hold every value of every key once, in order, and are few where they may still be joined", async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, async (history) => {
        const store = await play(history, small);
        expect(Math.max(...unsealed(store, small))).toBeLessThanOrEqual(3 * classes(small));
        expect(Math.max(...store.stored().map(({ writes }) => writes))).toBeLessThanOrEqual(3 * (classes(small) + 2));
        expect(Math.max(...store.stored().map(({ facts }) => facts.points))).toBeLessThanOrEqual(small.pointsMax);
        expect(store.effort.largestRewrite).toBeLessThanOrEqual(4 * small.valuesMax);

        const before = seriesIn(store);
        const untidy = store.stored().map(({ facts: { firstKey, width } }) => ({ firstKey, width }));
        await arrange(store, small, { segmentIds: [], parts: [], untidy, effort: "best", isComplete: true });
        expect(seriesIn(store)).toEqual(before);
        // Each remaining block has four times the points of all blocks after it.
        expect(Math.max(...unsealed(store, small))).toBeLessThanOrEqual(classes(small));
      }),
      { numRuns: 100 },
    );
  });

  test("hold it also when steps are never finished", async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, async (history) => {
        await play(history, small, true);
      }),
      { numRuns: 60 },
    );
  });
});

const times = (count: number, request: Request): Request[] => Array.from({ length: count }, () => request);
const range = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first + i);
const widthsOf = (store: MemoryMetricStore) => new Set(store.stored().map(({ facts }) => facts.width));

describe("of a run", () => {
  test("with six keys that is written step by step, blocks are narrow, nearly full, and written four times", async () => {
    const history = Array.from({ length: 160 }, () => times(64, { keyIds: range(0, 6), points: 1, gap: 1 }));
    const store = await play(history, KEY_RANGE_RULES);
    expect(widthsOf(store)).toEqual(new Set([16]));
    expect(
      store
        .stored()
        .slice(0, 2)
        .map(({ facts }) => facts.points),
    ).toEqual([4096, 4096]);
    expect(store.effort.valuesWritten / (160 * 64 * 6)).toBeLessThan(4.5);
  });

  test("that is written in large batches of a hundred keys, blocks are narrow immediately", async () => {
    const history = Array.from({ length: 2 }, () => times(4, { keyIds: range(0, 100), points: 500, gap: 1 }));
    const store = await play(history, KEY_RANGE_RULES);
    expect(widthsOf(store)).toEqual(new Set([16]));
    expect(store.effort.valuesWritten / (8 * 500 * 100)).toBeLessThan(2);
  });

  test("with many keys of few points, blocks are wide, and narrower once there are more", async () => {
    const round = range(0, 5).map((i): Request => ({ keyIds: range(i * 816, 816), points: 1, gap: 1 }));
    const rounds = (count: number) => Array.from({ length: count }, () => round);
    expect(widthsOf(await play(rounds(16), KEY_RANGE_RULES))).toEqual(new Set([4096]));
    expect(widthsOf(await play(rounds(20), KEY_RANGE_RULES))).toEqual(new Set([256, 4096]));
  });
});
