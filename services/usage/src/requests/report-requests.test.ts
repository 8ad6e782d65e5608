import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { runUpkeep } from "../upkeep/upkeep.ts";
import { ownCall, startUsage, type UsageFixture } from "../usage.fixture.ts";

let fixture: UsageFixture;
beforeAll(async () => {
  fixture = await startUsage();
});
afterAll(() => fixture.close());

type Report = { gatewayId: string; sequence: bigint; counts?: object[]; leaving?: boolean };
const report = (of: Report) => fixture.client.reportRequests({ counts: [], leaving: false, ...of }, ownCall());
const month = "2026-01";
const storedOf = async (orgId: string) =>
  (await fixture.ask<{ requests: number }>("SELECT requests FROM usage.month_requests WHERE org_id = $1", orgId)).map(
    ({ requests }) => requests,
  );

test("counts of all gateways are added, by month", async () => {
  const orgId = randomUUID();
  const [a, b] = [randomUUID(), randomUUID()];
  await report({ gatewayId: a, sequence: 1n, counts: [{ orgId, month, requests: 3 }] });
  const { totals } = await report({
    gatewayId: b,
    sequence: 1n,
    counts: [
      { orgId, month, requests: 4 },
      { orgId, month: "2026-02", requests: 5 },
    ],
  });
  expect(new Map(totals.map((total) => [total.month, total.requests]))).toEqual(
    new Map([
      ["2026-01", 7n],
      ["2026-02", 5n],
    ]),
  );
});

test("a repeated report adds nothing and returns the totals", async () => {
  const orgId = randomUUID();
  const gatewayId = randomUUID();
  const first = { gatewayId, sequence: 1n, counts: [{ orgId, month, requests: 3 }] };
  const answers = await Promise.all(Array.from({ length: 8 }, () => report(first)));
  expect(answers.map(({ totals }) => totals[0]?.requests)).toEqual(Array.from({ length: 8 }, () => 3n));
  await report({ gatewayId, sequence: 2n, counts: [{ orgId, month, requests: 1 }] });
  expect((await report(first)).totals[0]?.requests).toBe(4n);
  expect(await storedOf(orgId)).toEqual([4]);
});

test("a report whose counts cannot be stored leaves its number unused", async () => {
  const orgId = randomUUID();
  const gatewayId = randomUUID();
  const bad = { gatewayId, sequence: 1n, counts: [{ orgId, month: "2026-13", requests: 1 }] };
  await expect(report(bad)).rejects.toMatchObject({ reason: "bad_request" });
  await report({ gatewayId, sequence: 1n, counts: [{ orgId, month, requests: 2 }] });
  expect(await storedOf(orgId)).toEqual([2]);
});

test.each([
  ["a gateway without a UUID", { gatewayId: "one", sequence: 1n }],
  [
    "an organization without a UUID",
    { gatewayId: randomUUID(), sequence: 1n, counts: [{ orgId: "x", month, requests: 1 }] },
  ],
  [
    "10,001 counts",
    {
      gatewayId: randomUUID(),
      sequence: 1n,
      counts: Array.from({ length: 10_001 }, () => ({ orgId: randomUUID(), month, requests: 1 })),
    },
  ],
])("%s is refused", async (_, bad) => {
  await expect(report(bad)).rejects.toMatchObject({ reason: "bad_request" });
});

test("gateways count as alive until they leave or are silent for ten seconds", async () => {
  await fixture.ask("DELETE FROM usage.gateways");
  const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
  expect((await report({ gatewayId: a, sequence: 1n })).gateways).toBe(1);
  await report({ gatewayId: b, sequence: 1n });
  expect((await report({ gatewayId: c, sequence: 1n })).gateways).toBe(3);
  await report({ gatewayId: b, sequence: 2n, leaving: true });
  await fixture.ask("UPDATE usage.gateways SET seen_at = seen_at - interval '11 s' WHERE gateway_id = $1", c);
  expect((await report({ gatewayId: a, sequence: 2n })).gateways).toBe(1);
  expect((await report({ gatewayId: c, sequence: 2n })).gateways).toBe(2);
});

test("gateways that ended a week ago are forgotten", async () => {
  const gatewayId = randomUUID();
  await report({ gatewayId, sequence: 1n });
  await fixture.ask("UPDATE usage.gateways SET seen_at = seen_at - interval '8 days' WHERE gateway_id = $1", gatewayId);
  expect((await runUpkeep(fixture.workerDb)).gateways).toBe(1);
});
