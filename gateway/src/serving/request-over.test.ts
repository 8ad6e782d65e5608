import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { isAppError } from "@tidemark/errors";
import { until } from "@tidemark/testkit";
import { nextTurn } from "@tidemark/work";
import { startApp, type TestApp } from "../app.fixture.ts";
import { workRoute } from "./echo-routes.fixture.ts";

let turns = 0;
let end: string | undefined;

/** Work that only its pauses can end. */
async function workOn(): Promise<string> {
  try {
    for (;;) {
      await nextTurn();
      turns += 1;
    }
  } catch (error) {
    end = isAppError(error) ? error.reason : String(error);
    throw error;
  }
}

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    routes: [
      workRoute(workOn),
      workRoute(workOn, { method: "POST", path: "/read", endsWithClient: true }),
      workRoute(workOn, { method: "POST", path: "/write" }),
    ],
    settings: { deadlineMs: 500 },
  });
});
afterAll(() => app.close());
beforeEach(() => {
  [turns, end] = [0, undefined];
});

describe("work that continues in turns", () => {
  test("ends with the time of its request", async () => {
    expect((await fetch(`${app.url}/work`)).status).toBe(503);
    expect(end).toBe("deadline_exceeded");
    expect(turns).toBeGreaterThan(0);
  });

  test.each([
    ["a read", "GET /work", true],
    ["a read that has a body", "POST /read", true],
    ["a write", "POST /write", false],
  ])("of %s ends when its client leaves: %#", async (_what, line, endsEarly) => {
    const socket = connect(app.port, "127.0.0.1");
    socket.write(`${line} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`);
    await until("the work has begun", () => turns > 0);
    const sinceMs = performance.now();
    socket.destroy();
    await until("the work has ended", () => end !== undefined);
    expect(performance.now() - sinceMs < 250).toBe(endsEarly);
  });
});
