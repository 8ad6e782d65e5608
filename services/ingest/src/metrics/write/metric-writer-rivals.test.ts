import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { AppError } from "@tidemark/errors";
import { fingerprint, type Db } from "@tidemark/pg";
import { callOf, startIngest, type IngestFixture, type MetricWriting, type Tenant } from "../../ingest.fixture.ts";
import { expectStored, pointOf, storedRun } from "./stored-run.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let runIds: string[];

beforeAll(async () => {
  ingest = await startIngest();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  tenant = await ingest.newTenant();
  runIds = await Promise.all(Array.from({ length: 6 }, () => ingest.newRun(tenant)));
});

const processWith = (writing: MetricWriting = {}) => ingest.writer(undefined, writing);

describe("a key that another transaction holds", () => {
  const hold = testSql("SELECT pg_advisory_xact_lock(hashtextextended(encode($1::bytea, 'hex') || $2, 0))");
  const holding = <T>(key: string, work: () => Promise<T>): Promise<T> =>
    ingest.owner.transaction(async (tx) => {
      await tx.rows(hold, [fingerprint([key]), tenant.orgId]);
      return work();
    });

  test("keeps its own write waiting and no other, and the write is stored when it is free", async () => {
    const writer = processWith();
    const key = randomUUID();
    const waiting = await holding(key, async () => {
      const held = writer.appendMetrics({ ...pointOf(runIds[0]!), idempotencyKey: key }, callOf(tenant));
      for (const step of [1, 2]) await writer.appendMetrics(pointOf(runIds[0]!, step), callOf(tenant));
      return [held];
    });
    expect(await waiting[0]).toMatchObject({ inserted: 1, replayed: false });
    // And the process continues with its known state of the run.
    await writer.appendMetrics(pointOf(runIds[0]!, 3), callOf(tenant));
    await expectStored(ingest, runIds[0]!, 4);
  });

  test("is not waited for by more writes than there are connections to spare", async () => {
    const writer = processWith();
    const keys = Array.from({ length: 6 }, () => randomUUID());
    const outcomes: string[] = [];
    const all = await ingest.owner.transaction(async (tx) => {
      for (const key of keys) await tx.rows(hold, [fingerprint([key]), tenant.orgId]);
      const writes = keys.map((idempotencyKey, i) =>
        writer.appendMetrics({ ...pointOf(runIds[i]!), idempotencyKey }, callOf(tenant)).then(
          () => void outcomes.push("stored"),
          (error: unknown) => void outcomes.push((error as AppError).reason),
        ),
      );
      while (outcomes.length < 2) await setImmediate();
      return writes;
    });
    await Promise.all(all);
    expect(outcomes).toEqual([
      "idempotency_in_progress",
      "idempotency_in_progress",
      ...Array.from({ length: 4 }, () => "stored"),
    ]);
  });
});

describe("another process that writes the same run", () => {
  test("is found out about, and nothing is lost or counted twice", async () => {
    const [runId] = runIds as [string];
    const writers = [processWith(), processWith({ cacheBytes: 1 }), ingest.write];
    for (let round = 0; round < 5; round++) {
      await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          writers[i % 3]!.appendMetrics(pointOf(runId, round, `k${(round * i) % 5}`), callOf(tenant)),
        ),
      );
    }
    const state = (await storedRun(ingest, runId))!;
    await expectStored(ingest, runId, 60, state["keyCount"]);
  });

  test("cannot keep a write from being stored by always being quicker", async () => {
    const [runId] = runIds as [string];
    const quicker = processWith();
    let raced = 0;
    const db: Db = {
      ...ingest.db,
      one: async (statement, values) => {
        if (statement.name === "ingest_append_metric_group") {
          raced += 1;
          await quicker.appendMetrics(pointOf(runId, raced), callOf(tenant));
        }
        return ingest.db.one(statement, values);
      },
    };
    const slow = processWith({ db });
    await slow.appendMetrics(pointOf(runId, 100), callOf(tenant));
    // Twice it was too late; then it took its turn under the row's lock.
    expect(raced).toBe(2);
    await expectStored(ingest, runId, 3);
  });

  test("cannot keep a write from being loaded either", async () => {
    const [runId] = runIds as [string];
    const quicker = processWith();
    await quicker.appendMetrics(pointOf(runId), callOf(tenant));
    let raced = 0;
    const db: Db = {
      ...ingest.db,
      rows: async (statement, values) => {
        if (statement.name === "ingest_load_metric_runs") {
          raced += 1;
          await quicker.appendMetrics(pointOf(runId, raced), callOf(tenant));
        }
        return ingest.db.rows(statement, values);
      },
    };
    // A new key is added after the others of its page, so this page is needed too: one more load.
    await processWith({ db }).appendMetrics(pointOf(runId, 100, "new"), callOf(tenant));
    expect(raced).toBe(10);
    await expectStored(ingest, runId, 12, 2);
  });
});

describe("a database that disappears", () => {
  test("after a commit, before the answer: a repeat is answered, and nothing is counted twice", async () => {
    const [runId] = runIds as [string];
    let isLost = true;
    const db: Db = {
      ...ingest.db,
      one: async (statement, values) => {
        const row = await ingest.db.one(statement, values);
        if (statement.name !== "ingest_append_metric_group" || !isLost) return row as never;
        throw new AppError("warehouse_unavailable", "the database is not available; try again");
      },
    };
    const writer = processWith({ db });
    const request = { ...pointOf(runId), idempotencyKey: randomUUID() };
    const answers = await Promise.allSettled([
      writer.appendMetrics(request, callOf(tenant)),
      writer.appendMetrics(pointOf(runIds[1]!), callOf(tenant)),
    ]);
    expect(answers).toMatchObject([
      { status: "rejected", reason: { reason: "warehouse_unavailable" } },
      { status: "rejected", reason: { reason: "warehouse_unavailable" } },
    ]);
    isLost = false;
    expect(await writer.appendMetrics(request, callOf(tenant))).toMatchObject({ inserted: 1, replayed: true });
    await writer.appendMetrics(pointOf(runId, 1), callOf(tenant));
    await expectStored(ingest, runId, 2);
  });
});
