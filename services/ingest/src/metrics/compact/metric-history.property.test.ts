import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Compaction } from "../../compaction/work-loop.ts";
import { startIngest, type IngestFixture, type Tenant } from "../../ingest.fixture.ts";
import { createHandWrittenRun, type SegmentPoint } from "./metric-tiers.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let compaction: Compaction;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
  // Blocks of a few points, so that short histories have many, of all widths.
  compaction = ingest.compactor(undefined, { pointsMax: 32, valuesMax: 512, childValuesMin: 24 });
});
afterAll(() => ingest.close());

type Command =
  | { readonly kind: "write"; readonly points: readonly SegmentPoint[] }
  | { readonly kind: "compact" }
  | { readonly kind: "read"; readonly compacting: boolean };

/** Numbers of every size and sign, and numbers that a careless encoding changes. */
const anyValue = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.float({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(-0, 5e-324, -1.7976931348623157e308, 0.1, 1e21, NaN, Infinity, -Infinity),
);
const anyKeys = fc.oneof(
  fc.subarray(["loss", "acc", "lr", "val/loss", "é"], { minLength: 1 }),
  fc.integer({ min: 1, max: 60 }).map((count) => Array.from({ length: count }, (_, i) => `layer${i}`)),
  fc.uniqueArray(
    fc.nat(400).map((n) => `wide/${n}`),
    { minLength: 1, maxLength: 40 },
  ),
);
/** Steps go up, go back, and repeat. */
const anySteps = fc.oneof(
  fc
    .record({ first: fc.nat(100), count: fc.integer({ min: 1, max: 24 }), by: fc.constantFrom(1, 1, 1, 0, 0.5) })
    .map(({ first, count, by }) => Array.from({ length: count }, (_, i) => first + i * by)),
  fc.array(fc.oneof(fc.nat(20), fc.double({ min: 0, max: 1e300, noNaN: true })), { minLength: 1, maxLength: 12 }),
);
const anyTime = fc.oneof(fc.constant(null), fc.integer({ min: 1_700_000_000_000_000, max: 1_800_000_000_000_000 }));

const anyPoints: fc.Arbitrary<SegmentPoint[]> = fc
  .record({ keys: anyKeys, steps: anySteps, isTimed: fc.boolean(), gaps: fc.integer({ min: 1, max: 4 }) })
  .chain(({ keys, steps, isTimed, gaps }) =>
    fc
      .tuple(
        fc.array(anyValue, { minLength: 8, maxLength: 8 }),
        fc.array(isTimed ? anyTime : fc.constant(null), { minLength: steps.length, maxLength: steps.length }),
      )
      .map(([values, times]) =>
        steps.map((step, i) => {
          const present = keys.filter((_, k) => k === 0 || (i + k) % gaps === 0);
          const metrics = Object.fromEntries(present.map((key, k) => [key, values[(i * 3 + k) % values.length]!]));
          return { step, metrics, timestampUs: times[i]! };
        }),
      ),
  );
const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      points: anyPoints,
    }),
  },
  { weight: 2, arbitrary: fc.constant<Command>({ kind: "compact" }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("read" as const), compacting: fc.boolean() }) },
);

describe("the points of a run in both tiers", () => {
  test("is what was written, bit for bit and in order, after any compactions", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyCommand, { minLength: 3, maxLength: 25 }), async (commands) => {
        const run = createHandWrittenRun(ingest.owner, { orgId: tenant.orgId, runId: await ingest.newRun(tenant) });
        for (const command of commands) {
          if (command.kind === "write") await run.land(command.points);
          else if (command.kind === "compact") await compaction.round();
          else {
            const [stored] = await Promise.all([run.stored(), command.compacting ? compaction.round() : undefined]);
            expect(stored).toEqual(run.model());
          }
        }
        expect(await run.stored()).toEqual(run.model());
        await compaction.round();
        expect(await run.stored()).toEqual(run.model());
      }),
      { numRuns: 40 },
    );
  });
});
