import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { requireServers, until } from "@tidemark/testkit";
import type { Answer, Api } from "../stack/client.ts";
import { describeWith } from "../stack/describe-with.ts";
import { enforcedPlans } from "../stack/settings.ts";
import { startStack, type Replica, type OwnStack } from "../stack/stack.ts";

const RATE = 20;
const BURST = 40;
const MONTH = 60;
const settings = enforcedPlans({
  free: { rate_limit_rps: RATE, rate_limit_burst: BURST },
  pro: {
    rate_limit_rps: 500,
    rate_limit_burst: 500,
    ingest_rate_limit_rps: 500,
    api_requests: MONTH,
    api_request_overage_cents_per_million: null,
  },
});

const servers = await requireServers(["nats-server", "minio"]);

type Sent = { readonly admitted: number; readonly refused: number; readonly seconds: number };

/** Sends as many requests a second as said, to each of the entry points in turn, and counts the results. */
async function send(ways: readonly Api[], perSecond: number, seconds: number, during?: () => void): Promise<Sent> {
  const startedMs = performance.now();
  const answers: Promise<number>[] = [];
  const statusOf = async (api: Api): Promise<number> => (await api.get("/projects")).status;
  let isHalfOver = false;
  for (;;) {
    const elapsed = (performance.now() - startedMs) / 1000;
    if (elapsed >= seconds) break;
    if (!isHalfOver && elapsed >= seconds / 2) {
      isHalfOver = true;
      during?.();
    }
    while (answers.length < elapsed * perSecond) {
      answers.push(statusOf(ways[answers.length % ways.length]!).catch(() => 0));
    }
    await pause(10);
  }
  const statuses = await Promise.all(answers);
  const count = (status: number): number => statuses.filter((one) => one === status).length;
  return { admitted: count(200), refused: count(429), seconds: (performance.now() - startedMs) / 1000 };
}

const allowed = ({ seconds }: Sent): number => RATE * seconds + BURST;

describeWith(servers)("three gateways", () => {
  let stack: OwnStack;
  let replicas: Replica[];
  const waysOf = (key: string): Api[] => [stack.api, ...replicas.map(({ api }) => api)].map((api) => api.as(key));
  const usageOf = async (api: Api) => (await api.get("/api/usage")).json.organizations[0].usage;

  beforeAll(async () => {
    stack = await startStack("split", { settings });
    replicas = [await stack.addReplica(), await stack.addReplica()];
    // Each learns of the others with its next report.
    await pause(3000);
  });
  afterAll(() => stack.stop());

  test("requests without credentials are limited for an address at all gateways together", async () => {
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        waysOf("nonsense")
          [i % 3]!.get("/projects")
          .then(({ status }) => status),
      ),
    );
    const failed = answers.filter((status) => status === 401).length;
    // Each of three has a third of the burst, and of what flows in meanwhile.
    expect(failed).toBeGreaterThanOrEqual(99);
    expect(failed).toBeLessThanOrEqual(130);
    expect(answers.filter((status) => status === 429)).toHaveLength(300 - failed);
    // A look-up of a new key counts against the address as well, until it turns out to be good.
    await pause(4000);
  });

  describe("the rate of an organization", () => {
    test("at three times the rate no more is admitted than one bucket has, and nearly all of it", async () => {
      const { key } = await stack.organization({ plan: "free" });
      const sent = await send(waysOf(key), 3 * RATE, 8);
      expect(sent.admitted).toBeLessThanOrEqual(allowed(sent) * 1.01);
      expect(sent.admitted).toBeGreaterThanOrEqual(allowed(sent) * 0.95);
      expect(sent.refused).toBeGreaterThan(sent.admitted / 2);
    });

    test("many simultaneous requests get the burst and no more", async () => {
      const { key } = await stack.organization({ plan: "free" });
      const startedMs = performance.now();
      const answers = await Promise.all(
        Array.from({ length: 150 }, (_, i) =>
          waysOf(key)
            [i % 3]!.get("/projects")
            .then(({ status }) => status),
        ),
      );
      const seconds = (performance.now() - startedMs) / 1000;
      const admitted = answers.filter((status) => status === 200).length;
      expect(admitted).toBeGreaterThanOrEqual(BURST);
      expect(admitted).toBeLessThanOrEqual(BURST + RATE * seconds + 1);
    });

    test("without the service of usage each gateway grants its part, and continues with it afterwards", async () => {
      const { key } = await stack.organization({ plan: "free" });
      await stack.children.get("usage")!.end("SIGKILL");
      const alone = await send(waysOf(key), 3 * RATE, 5);
      expect(alone.admitted).toBeLessThanOrEqual(allowed(alone) * 1.01);
      expect(alone.admitted).toBeGreaterThanOrEqual(allowed(alone) * 0.85);
      await stack.restart("usage");
      const back = await send(waysOf(key), 3 * RATE, 5);
      // A gateway that has not asked again grants its part for a second more.
      expect(back.admitted).toBeLessThanOrEqual(allowed(back) * 1.01 + RATE);
      expect(back.admitted).toBeGreaterThanOrEqual(RATE * 5 * 0.85);
    });

    test("when one gateway dies the others admit what it would have", async () => {
      const { key } = await stack.organization({ plan: "free" });
      const extra = await stack.addReplica();
      await pause(2500);
      const ways = [...waysOf(key).slice(0, 2), extra.api.as(key)];
      const sent = await send(ways, 4.5 * RATE, 8, () => extra.child.signal("SIGKILL"));
      expect(sent.admitted).toBeLessThanOrEqual(allowed(sent) * 1.01);
      expect(sent.admitted).toBeGreaterThanOrEqual(allowed(sent) * 0.9);
    });
  });

  describe("the allowance of a month", () => {
    const monthly = (answer: Answer): boolean => answer.json?.code === "api_request_monthly_limit_exceeded";

    test("is one for all gateways; stops and usage continue", async () => {
      const { key, api } = await stack.organization({
        plan: "pro",
        scopes: ["sdk:ingest", "export:read", "runs:control", "usage:read"],
      });
      const { id } = (await api.post("/runs", {})).json.run;
      for (const way of waysOf(key)) for (let i = 0; i < 10; i += 1) await way.get("/projects");
      await until("all gateways to have reported", async () => (await usageOf(api)).api_requests >= 31);
      let admitted = 0;
      const refused = await until("the month to be used up", async () => {
        const answer = await waysOf(key)[1]!.get("/projects");
        admitted += answer.status === 200 ? 1 : 0;
        return monthly(answer) ? answer : undefined;
      });
      expect(admitted).toBeLessThanOrEqual(MONTH - 31);
      expect(refused).toMatchObject({
        status: 429,
        json: { limit: MONTH, plan_tier: "pro", overage_mode: "blocked" },
        headers: {
          "x-svc-ratelimit-scope": "monthly",
          "x-instantml-ratelimit-scope": "monthly",
          "ratelimit-limit": String(MONTH),
          "ratelimit-remaining": "0",
        },
      });
      const resetMs = Date.parse(refused.json.reset_at as string) - Date.now();
      expect(Math.abs(Number(refused.headers["retry-after"]) - resetMs / 1000)).toBeLessThan(30);
      await until("every gateway to refuse", async () => {
        const answers = await Promise.all(waysOf(key).map((way) => way.post("/runs", {})));
        return answers.every(monthly);
      });
      expect((await api.get(`/api/runs/${id}/stop-signal`)).status).toBe(200);
      expect((await api.post(`/api/runs/${id}/stop`, {})).status).toBe(200);
      // The document knows what has been reported, which follows within two seconds.
      await until("the last requests to be reported", async () => (await usageOf(api)).api_requests >= MONTH);
      const document = (await api.get("/api/usage/export")).json.organizations[0];
      expect(document.warnings).toContainEqual(
        expect.objectContaining({ target: "api_requests", status: "over_limit", blocking: true }),
      );
    });

    test("a gateway that is killed loses no more than it had not reported, and nothing is counted twice", async () => {
      const { key, api } = await stack.organization({ plan: "premium" });
      const extra = await stack.addReplica();
      const way = extra.api.as(key);
      let answered = 0;
      let lastReported = 0;
      for (let round = 0; round < 4; round += 1) {
        for (let i = 0; i < 25; i += 1) answered += (await way.get("/projects")).status === 200 ? 1 : 0;
        lastReported = answered;
        if (round < 3) await pause(1000);
      }
      await until("something to be reported", async () => (await usageOf(api)).api_requests >= 25);
      extra.child.signal("SIGKILL");
      await extra.child.ended;
      await pause(2500);
      const { api_requests: counted } = await usageOf(api);
      // The usage documents of this test count as well.
      expect(counted).toBeGreaterThanOrEqual(25);
      expect(counted).toBeLessThanOrEqual(lastReported + 60);
    });

    test("requests that fail in the service are not counted", async () => {
      const { api } = await stack.organization({ plan: "premium" });
      const { id } = (await api.post("/runs", {})).json.run;
      await stack.children.get("ingest-read")!.end("SIGKILL");
      const answers = await Promise.all(Array.from({ length: 20 }, () => api.get(`/runs/${id}/metrics`)));
      await stack.restart("ingest-read");
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
      await pause(2500);
      expect((await usageOf(api)).api_requests).toBeLessThanOrEqual(2);
    });
  });
});
