import { expect, test } from "@jest/globals";
import { createColumnsBuilder } from "@tidemark/codecs/metrics";
import { createPendingWrite, decideMarker, type PendingWrite } from "./pending-write.rules.ts";
import { planGroup, type LoadedRun, createPointSlots } from "./plan-group.rules.ts";
import type { SortKeys } from "./run-change.rules.ts";

const noSortKeys: SortKeys = { version: 0, keys: new Map() };
const noMarkers = { next: () => null, forget: () => {} };
const everyMarker = { next: () => 60, forget: () => {} };

function writeOf(
  step: number,
  metrics: Readonly<Record<string, number>>,
  markers = noMarkers as typeof everyMarker | typeof noMarkers,
): PendingWrite {
  const columns = createColumnsBuilder();
  columns.addPoint(metrics, step, null);
  const write = {
    orgId: "o",
    projectId: "p",
    runId: "r",
    idempotency: null,
    waits: true,
    columns: columns.build(),
    keySet: Object.keys(metrics).join(),
  };
  const pending = createPendingWrite(write, 1, markers, { resolve: () => {}, reject: () => {} });
  decideMarker(pending, markers);
  return pending;
}

/** A run that has the key `a` with the id 0, and whose write of it had the value 5 at step 0. */
const loadedRun = (writes: readonly PendingWrite[]): LoadedRun => ({
  runId: "r",
  projectId: "p",
  writes,
  state: { runId: "r", version: 7, keyCount: 1, pointCount: 1, notedMinute: 3 },
  keyIds: new Map<string, Uint32Array | Int32Array>([
    ["a", Uint32Array.of(0)],
    ["a,b", Int32Array.of(0, -1)],
  ]),
  pages: new Map([[0, { numbers: Float64Array.of(1, 5, 0, 5, 0, 5, 0, 5, 0, 0), nonFinite: null }]]),
});

test("a plan numbers new keys, counts points, and has what will be known", () => {
  const plan = planGroup([loadedRun([writeOf(1, { a: 6 }), writeOf(2, { a: 7, b: 1 })])], noSortKeys);
  expect(plan.runs).toMatchObject([
    {
      version: 7,
      keyCount: 2,
      pointCount: 4,
      pointsAdded: 3,
      notedMinute: 3,
      newKeys: [{ key: "b", keyId: 1 }],
      sortChanges: [],
      pageChanges: [{ page: 0, slot: 0 }],
      writes: [
        { firstStep: 1, lastStep: 1, valueCount: 1, markerSeconds: null },
        { firstStep: 2, lastStep: 2, valueCount: 2, markerSeconds: null },
      ],
    },
  ]);
  const { known } = plan.runs[0]!;
  expect([...known.keyIds]).toEqual([["a,b", Uint32Array.of(0, 1)]]);
  expect(known.pages.get(0)?.numbers).toHaveLength(20);
});

test("a plan changes nothing of what it was made from", () => {
  const run = loadedRun([writeOf(1, { a: 6 })]);
  const before = structuredClone({ state: run.state, keyIds: run.keyIds, pages: run.pages });
  planGroup([run], noSortKeys);
  expect({ state: run.state, keyIds: run.keyIds, pages: run.pages }).toEqual(before);
});

test("new keys that are sort keys are sort changes, and a write has the marker that was decided", () => {
  const sortKeys: SortKeys = { version: 2, keys: new Map([["b", { best: true, latest: false }]]) };
  const plan = planGroup([loadedRun([writeOf(1, { a: 6, b: 1 }, everyMarker)])], sortKeys);
  expect(plan).toMatchObject({
    sortKeysVersion: 2,
    runs: [
      {
        newKeys: [],
        sortChanges: [{ key: "b", keyId: 1, isNew: true, best: 1, latest: Number.NaN }],
        writes: [{ markerSeconds: 60 }],
      },
    ],
  });
});

test.each([0, 0.5, 0.999_999])("all sixteen counters take turns, from a random one on (%d)", (random) => {
  const slots = createPointSlots(() => random);
  const first = Array.from({ length: 16 }, () => slots.next());
  expect(first.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, slot) => slot));
  expect(first[0]).toBe((Math.floor(random * 16) + 1) % 16);
  expect(Array.from({ length: 16 }, () => slots.next())).toEqual(first);
});
