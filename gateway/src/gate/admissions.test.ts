import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { turnsDuring, until } from "@tidemark/testkit";
import { orgId, startApp, type TestApp } from "../app.fixture.ts";
import { createAdmissions, TICK_MS } from "./admissions.ts";
import { workRoute } from "../serving/echo-routes.fixture.ts";

/** Keeps the event loop busy. */
function work(ms: number): void {
  for (const sinceMs = performance.now(); performance.now() - sinceMs < ms;);
}

const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("requests that arrive together", () => {
  test("are admitted right away when they take little", () => {
    const { enter, waiting } = createAdmissions();
    const admitted: number[] = [];
    for (const n of [1, 2, 3]) enter("a", () => admitted.push(n));
    expect([admitted, waiting()]).toEqual([[1, 2, 3], 0]);
  });

  test("give way when they take long, and keep their order", async () => {
    const { enter, waiting } = createAdmissions();
    const admitted: number[] = [];
    const { turns } = await turnsDuring(async () => {
      for (let n = 0; n < 40; n += 1) {
        enter("a", () => {
          work(1);
          admitted.push(n);
        });
      }
      expect(admitted.length).toBeLessThanOrEqual(TICK_MS + 1);
      await until("all are admitted", () => waiting() === 0);
    });
    expect(admitted).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(turns).toBeGreaterThanOrEqual(40 / (TICK_MS + 1) - 2);
  });

  test("count what they begin", async () => {
    const { enter, waiting } = createAdmissions();
    const begin = async (): Promise<void> => {
      await Promise.resolve();
      work(TICK_MS);
    };
    for (let n = 0; n < 6; n += 1) enter("a", () => void (n === 0 ? work(TICK_MS) : begin()));
    expect(waiting()).toBe(5);
    // One in each tick.
    for (let left = 4; left >= 0; left -= 1) {
      await nextTick();
      expect(waiting()).toBeGreaterThanOrEqual(left);
    }
  });

  test("of one organization do not go before those of another", async () => {
    const { enter, waiting } = createAdmissions();
    const admitted: string[] = [];
    const from = (org: string, count: number): void => {
      for (let n = 0; n < count; n += 1) {
        enter(org, () => {
          work(TICK_MS / 2);
          admitted.push(org);
        });
      }
    };
    from("a", 50);
    from("b", 2);
    from("c", 1);
    await until("all are admitted", () => waiting() === 0);
    const first = admitted.slice(0, 10);
    expect(first.filter((org) => org !== "a").toSorted()).toEqual(["b", "b", "c"]);
  });
});

describe("a request to a gateway", () => {
  const entered: { orgId: string; goOn: () => void }[] = [];
  let worked = 0;
  let app: TestApp;
  let authorization: string;
  beforeAll(async () => {
    const admissions = {
      enter: (org: string, goOn: () => void) => void entered.push({ orgId: org, goOn }),
      waiting: () => 0,
    };
    const callers = { kind: "credentials", key: { scopes: [] }, session: { refused: 401 } } as const;
    const work = () => Promise.resolve(`${(worked += 1)}`);
    app = await startApp({ routes: [workRoute(work, { callers })], options: { admissions } });
    authorization = `Bearer ${app.addKey([])}`;
  });
  afterAll(() => app.close());
  beforeEach(() => {
    entered.length = 0;
    worked = 0;
  });

  test("is served when its organization's turn comes", async () => {
    const answer = fetch(`${app.url}/work`, { headers: { authorization } });
    await until("it waits", () => entered.length === 1);
    expect([entered[0]!.orgId, worked]).toEqual([orgId, 0]);
    entered[0]!.goOn();
    expect((await answer).status).toBe(200);
    expect(worked).toBe(1);
  });

  test("is dropped when its client has left by then", async () => {
    const connecting = once(app.server, "connection");
    const socket = connect(app.port, "127.0.0.1");
    const [accepted] = (await connecting) as [Socket];
    socket.write(`GET /work HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
    await until("it waits", () => entered.length === 1);
    socket.destroy();
    await until("the gateway knows", () => accepted.destroyed);
    entered[0]!.goOn();
    await nextTick();
    expect(worked).toBe(0);
  });
});
