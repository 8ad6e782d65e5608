import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Db } from "@tidemark/pg";
import fc from "fast-check";
import { startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";
import { compactRankRows, appendRankMetrics } from "./rank-writes.sql.ts";
import { claimRankSet } from "./rank-claim.fixture.ts";
import { createRankLayouts } from "./rank-reports.rules.ts";
import { readRankSummary } from "./summarize-rank-metrics.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let worker: Db;

beforeAll(async () => {
  ingest = await startIngest();
  worker = ingest.poolOf("tidemark_ingest_worker");
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());

const KEYS = ["a", "b", "c", "d"];
const STEPS = [0, 1, 2.5, 3, 4, 5, 6, 7, 1e300];
const WORLDS = [3, 4];

type Write = { readonly kind: "write"; keys: string[]; step: number; rank: number; worldSize: number; weight: number };
type Compact = { readonly kind: "compact"; setId: number; entriesMin: number; entriesMax: number; overlapsMax: number };
type Query = { key: string; startStep: number | undefined; endStep: number | undefined; limit: number };

const anyWrite: fc.Arbitrary<Write> = fc.record({
  kind: fc.constant("write"),
  keys: fc.subarray(KEYS, { minLength: 1 }),
  step: fc.constantFrom(...STEPS),
  rank: fc.nat(2),
  worldSize: fc.constantFrom(...WORLDS),
  weight: fc.constantFrom(1, 0.5, 7),
});
const anyCompact: fc.Arbitrary<Compact> = fc.record({
  kind: fc.constant("compact"),
  setId: fc.nat(4),
  entriesMin: fc.integer({ min: 1, max: 4 }),
  entriesMax: fc.integer({ min: 4, max: 12 }),
  overlapsMax: fc.nat(3),
});
const anyStep = fc.option(fc.constantFrom(...STEPS, 2, 3.5), { nil: undefined });
const anyQuery: fc.Arbitrary<Query> = fc
  .record({
    key: fc.constantFrom(...KEYS),
    startStep: anyStep,
    endStep: anyStep,
    limit: fc.integer({ min: 1, max: 10 }),
  })
  .filter(({ startStep, endStep }) => startStep === undefined || endStep === undefined || startStep <= endStep);

type Cell = { step: number; rank: number; worldSize: number; value: number; weight: number };

/** The value of a write: its number, or now and then one that is not finite. */
const valueOf = (write: number): number => [NaN, Infinity, -Infinity][write % 9] ?? write;

/** The content of a run after its writes, by key and then by step and rank. */
function historyOf(writes: readonly Write[]): Map<string, Map<string, Cell>> {
  const history = new Map(KEYS.map((key) => [key, new Map<string, Cell>()]));
  writes.forEach(({ keys, step, rank, worldSize, weight }, write) => {
    const value = valueOf(write);
    for (const key of keys) history.get(key)!.set(`${step}/${rank}`, { step, rank, worldSize, value, weight });
  });
  return history;
}

function expected(history: Map<string, Map<string, Cell>>, { key, startStep = 0, endStep = Infinity, limit }: Query) {
  const cells = [...history.get(key)!.values()]
    .filter(({ step }) => step >= startStep && step <= endStep)
    .sort((a, b) => a.step - b.step || a.rank - b.rank);
  const steps = [...new Set(cells.map(({ step }) => step))].slice(-limit);
  return cells.filter(({ step }) => steps.includes(step));
}

test.each([
  ["sets of keys", 1024],
  ["sets until they are too many, then pages", 2],
  ["pages alone", 0],
])(
  "after any writes in %s and any compactions, reads find the newest value of each rank and step",
  async (_, setsMax) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 5, arbitrary: anyWrite }, { weight: 1, arbitrary: anyCompact }), {
          minLength: 1,
          maxLength: 60,
        }),
        fc.array(anyQuery, { minLength: 4, maxLength: 8 }),
        async (actions, queries) => {
          const runId = await ingest.newRun(tenant);
          const source = { orgId: tenant.orgId, runId };
          const layouts = createRankLayouts();
          const writes: Write[] = [];
          for (const action of actions) {
            if (action.kind === "compact") {
              // Pages follow the sets and are never compacted.
              const setId = Math.min(action.setId, setsMax - 1);
              if (setId < 0) continue;
              const set = { ...source, setId };
              await compactRankRows(worker, set, await claimRankSet(ingest.owner, set), { ...action, restSeconds: 0 });
              continue;
            }
            const { keys, step, rank, worldSize, weight } = action;
            const write = {
              ...source,
              runKnown: true,
              onlyProject: null,
              idempotency: null,
              report: { step, rank, worldSize, localRank: 0, weight, timestampUs: null },
              keys,
              values: keys.map(() => valueOf(writes.length)),
              markerSeconds: () => null,
            };
            await appendRankMetrics(ingest.db, layouts, write, setsMax);
            writes.push(action);
          }
          const history = historyOf(writes);
          for (const query of queries) {
            const { entries } = await readRankSummary(ingest.db, { ...source, ...query });
            const { steps, ranks, worldSizes, values, weights } = entries;
            const found = Array.from(steps, (step, i) => ({
              step,
              rank: ranks[i],
              worldSize: worldSizes[i],
              value: values[i],
              weight: weights[i],
            }));
            expect(found).toEqual(expected(history, query));
          }
        },
      ),
      { numRuns: 40 },
    );
  },
);
