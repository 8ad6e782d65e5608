import { expect, test } from "@jest/globals";
import { describeModes } from "../stack/modes.ts";
import { limited } from "../stack/settings.ts";

describeModes(
  "rate limits that are on",
  (stack) => {
    test("a free organization may write ten in a burst, then 429 with every header", async () => {
      const { api } = await stack().organization({ plan: "free" });
      const answers = await Promise.all(Array.from({ length: 20 }, () => api.post("/projects", { name: "same" })));
      const fine = answers.filter(({ status }) => status === 200);
      const limited = answers.filter(({ status }) => status === 429);
      expect(fine.length + limited.length).toBe(20);
      expect(fine.length).toBeGreaterThanOrEqual(10);
      expect(limited.length).toBeGreaterThan(0);
      expect(fine[0]?.headers).toMatchObject({ "ratelimit-limit": "2", "x-svc-ratelimit-scope": "second" });
      expect(limited[0]).toMatchObject({ json: { code: "rate_limit_exceeded", error: expect.any(String) } });
      expect(limited[0]?.headers).toMatchObject({
        "x-svc-ratelimit-scope": "second",
        "x-instantml-ratelimit-scope": "second",
        "ratelimit-limit": "2",
        "ratelimit-remaining": "0",
      });
      expect(Number(limited[0]?.headers["retry-after"])).toBeGreaterThanOrEqual(1);
      expect(Number(limited[0]?.headers["ratelimit-reset"])).toBeGreaterThanOrEqual(1);
    });

    test("another organization is not touched by that", async () => {
      const noisy = await stack().organization({ plan: "free" });
      const neighbor = await stack().organization({ plan: "free" });
      await Promise.all(Array.from({ length: 20 }, () => noisy.api.post("/projects", { name: "p" })));
      expect((await neighbor.api.post("/projects", { name: "p" })).status).toBe(200);
    });

    test("a free organization may have two projects, then 402 plan_limit_exceeded", async () => {
      const { api } = await stack().organization({ plan: "free" });
      expect((await api.post("/projects", { name: "one" })).status).toBe(200);
      expect((await api.post("/projects", { name: "two" })).status).toBe(200);
      expect(await api.post("/projects", { name: "three" })).toMatchObject({
        status: 402,
        json: { code: "plan_limit_exceeded" },
      });
      expect((await api.post("/projects", { name: "two" })).status).toBe(200);
    });
  },
  limited,
);
