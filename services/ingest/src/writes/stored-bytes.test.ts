import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { AppError } from "@tidemark/errors";
import type { PlanGate } from "@tidemark/plan-limits";
import { testSql } from "@tidemark/testkit";
import { removeRunRows } from "../removal/removed-rows.sql.ts";
import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";

let fixture: IngestFixture;
let tenant: Tenant;
let runId: string;
beforeAll(async () => {
  fixture = await startIngest();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
  runId = await fixture.newRun(tenant);
});

const storedSql = testSql(
  "SELECT kind, sum(bytes)::float8 AS bytes FROM platform.stored_bytes WHERE org_id = $1 GROUP BY kind HAVING sum(bytes) <> 0",
);
/** Returns the bytes that are counted of the kinds of this service. */
const storedOf = async ({ orgId }: Tenant): Promise<Record<string, number>> => {
  const rows = await fixture.owner.rows<{ kind: string; bytes: number }>(storedSql, [orgId]);
  return Object.fromEntries(rows.filter(({ kind }) => kind !== "documents").map(({ kind, bytes }) => [kind, bytes]));
};
const purge = () => removeRunRows(fixture.poolOf("tidemark_ingest_worker"), tenant.orgId, runId, tenant.projectId);
/** A gate that admits so many bytes. */
const gateOf = (limit: number): PlanGate & { admitted: number } => ({
  admitted: 0,
  admit(_owner, amount) {
    if (this.admitted + amount > limit) throw new AppError("plan_limit_exceeded", "too much");
    this.admitted += amount;
    return undefined;
  },
});
const exceeded = { reason: "plan_limit_exceeded" };
const utf8 = (text: string): number => Buffer.byteLength(text);

describe("attributes", () => {
  const attribute = (path: string, value: unknown) => ({
    path,
    type: "config",
    loggedAt: "",
    valueJson: Buffer.from(JSON.stringify(value)),
    summaryJson: Buffer.from("{}"),
    artifactId: "",
  });
  const send = (...attributes: ReturnType<typeof attribute>[]) =>
    fixture.write.appendAttributes({ runId, attributes, idempotencyKey: "" }, callOf(tenant));

  test("count the UTF-8 bytes of their paths and JSON, also of older rows of a path, until they are purged", async () => {
    const texts = ["plain", "größer", "漢字 🚀", "x".repeat(95_000)];
    await send(...texts.map((text, i) => attribute(`path/é${i}`, text)));
    await send(attribute("path/é0", texts[0]));
    const one = (text: string) => utf8("path/é0") + utf8(JSON.stringify(text)) + 2;
    const expected = [...texts, texts[0]!].reduce((sum, text) => sum + one(text), 0);
    expect(await storedOf(tenant)).toEqual({ attributes: expected });
    await purge();
    expect(await storedOf(tenant)).toEqual({});
  });

  test("of a repeat count once, of a refused request not at all", async () => {
    const request = { runId, attributes: [attribute("a", "b")], idempotencyKey: "again" };
    await fixture.write.appendAttributes(request, callOf(tenant));
    await fixture.write.appendAttributes(request, callOf(tenant));
    const wrong = { ...attribute("a", 1), artifactId: "0a1b2c3d-0000-4000-8000-000000000001" };
    await expect(send(wrong)).rejects.toMatchObject({ reason: "bad_request" });
    expect(await storedOf(tenant)).toEqual({ attributes: 1 + 3 + 2 });
  });

  test("of writers at the same time are all there", async () => {
    await Promise.all(Array.from({ length: 60 }, (_, i) => send(attribute("p", i % 10), attribute("q", "é"))));
    expect(await storedOf(tenant)).toEqual({ attributes: 60 * (1 + 1 + 2 + (1 + 4 + 2)) });
  });

  test("that do not fit are refused and leave nothing; a repeat of what is stored is answered", async () => {
    const gate = gateOf(6 + 6);
    const client = fixture.writer(undefined, { storageGate: gate });
    const request = (value: string, idempotencyKey = "") => ({
      runId,
      attributes: [attribute("a", value)],
      idempotencyKey,
    });
    await client.appendAttributes(request("b", "first"), callOf(tenant));
    await expect(client.appendAttributes(request("bcdefgh"), callOf(tenant))).rejects.toMatchObject(exceeded);
    expect(await storedOf(tenant)).toEqual({ attributes: 6 });
    await client.appendAttributes(request("b"), callOf(tenant));
    expect([gate.admitted, await storedOf(tenant)]).toEqual([12, { attributes: 12 }]);
    expect((await client.appendAttributes(request("b", "first"), callOf(tenant))).attributes).toEqual([]);
  });
});
