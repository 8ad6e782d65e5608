import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { doublesOfBytes } from "@tidemark/archive";
import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;
beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());

type Entry = Record<string, number | string>;

/** Entries by key, step and rank. */
async function exported(runId: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const message of ingest.archive.exportRankPoints({ runIds: [runId] }, callOf(tenant))) {
    const columns = {
      step: doublesOfBytes(message.steps),
      value: doublesOfBytes(message.values),
      rank: doublesOfBytes(message.ranks),
      world: doublesOfBytes(message.worldSizes),
      local: doublesOfBytes(message.localRanks),
      weight: doublesOfBytes(message.weights),
    };
    const times = doublesOfBytes(message.timestampsUs);
    expect(doublesOfBytes(message.createdUs).every((us) => us > 1.7e15)).toBe(true);
    columns.step.forEach((_, i) => {
      const numbers = Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column[i]!]));
      entries.push({ key: message.key, ...numbers, time: times[i] ?? Number.NaN });
    });
  }
  const orderOf = (entry: Entry) => [entry["key"], entry["step"], entry["rank"]].join(" ");
  return entries.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

test("everything that ranks reported is exported, from rows and from blocks, with keys that came later", async () => {
  const runId = await ingest.newRun(tenant);
  const wanted: Entry[] = [];
  const write = async (
    step: number,
    rank: number,
    values: Record<string, number>,
    more: object = {},
  ): Promise<void> => {
    const keys = Object.keys(values).toSorted();
    const sent = { localRank: rank, weight: 1, ...more } as { localRank: number; weight: number; timestampUs?: number };
    await ingest.write.appendRankMetrics(
      { runId, step, rank, worldSize: 4, keys, values: keys.map((key) => values[key]!), ...sent },
      callOf(tenant),
    );
    for (const key of keys) {
      wanted.push({
        key,
        step,
        value: values[key]!,
        rank,
        world: 4,
        local: sent.localRank,
        weight: sent.weight,
        time: sent.timestampUs ?? Number.NaN,
      });
    }
  };
  const compactor = ingest.rankCompactor({ restSeconds: 0, entriesMin: 1, entriesMax: 6, overlapsMax: 4 });
  for (let step = 1; step < 6; step++) {
    for (const rank of [0, 1]) {
      await write(
        step,
        rank,
        { a: step === 2 ? NaN : step + rank, b: step === 4 ? -Infinity : -step },
        rank === 0 ? { weight: 2.5, localRank: 3 } : { timestampUs: 1_795_176_000_000_000 + step },
      );
    }
    await write(step, 2, { [`c${step}`]: 1e308 });
    if (step === 3) await compactor.round();
  }
  const orderOf = (entry: Entry) => [entry["key"], entry["step"], entry["rank"]].join(" ");
  const sorted = wanted.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  expect(await exported(runId)).toEqual(sorted);
  await compactor.round();
  await compactor.stop();
  expect(await exported(runId)).toEqual(sorted);
});
