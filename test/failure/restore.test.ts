import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { requireServers, rounds, until } from "@tidemark/testkit";
import { contentOf } from "../e2e/archive.fixture.ts";
import { describeWith } from "../stack/describe-with.ts";
import { startStack } from "../stack/stack.ts";

const servers = await requireServers(["nats-server", "minio"]);

const [RUNS, REQUESTS, POINTS] = [4, 8, 500];

describeWith(servers)("a restore", () => {
  test.each(["imports-export", "ingest"])(
    "continues when %s is killed again and again, and stores everything once",
    async (module) => {
      const stack = await startStack("split");
      try {
        const { api } = await stack.organization();
        for (let run = 0; run < RUNS; run++) {
          const { id } = (await api.post("/runs", { project: "large", name: `r${run}` })).json.run;
          for (let from = 0; from < REQUESTS; from++) {
            const points = Array.from({ length: POINTS }, (_, i) => ({
              step: POINTS * from + i,
              metrics: Object.fromEntries(Array.from({ length: 10 }, (__, k) => [`k${k}`, Math.sin(i + k)])),
            }));
            expect((await api.post(`/runs/${id}/metrics/batch`, { points })).status).toBe(200);
          }
          await api.post(`/api/runs/${id}/logs`, { lines: [{ line_number: 1, message: "x" }] });
        }
        const { text } = await api.get("/api/export?format=ndjson&project=large");
        const other = (await stack.organization()).api;
        const headers = { "idempotency-key": randomUUID(), "content-type": "application/x-ndjson" };
        let isOver = false;
        const restored = until(
          "the restore",
          async () => {
            const answer = await other
              .post("/api/imports/archive", undefined, { rawBody: text, headers })
              .catch(() => undefined);
            // Unacknowledged requests are sent again.
            return answer?.status === 200 ? answer.json : undefined;
          },
          120_000,
        ).finally(() => (isOver = true));
        for (let kills = 0; kills < rounds(4) && !isOver; kills++) {
          await until("a part of the restore", async () => {
            const runs = await other.get("/runs?project=large").catch(() => undefined);
            return isOver || (runs?.status === 200 && runs.json.runs.length > 0) ? true : undefined;
          });
          await stack.restart(module);
        }
        const { counts, replaced } = await restored;
        expect(counts).toMatchObject({ run: RUNS, points: RUNS * REQUESTS * POINTS * 10, lines: RUNS });
        const again = await other.get("/api/export?format=ndjson&project=large");
        let expected = text;
        for (const { old, new: id } of replaced) expected = expected.replaceAll(old, id);
        expect(contentOf(again.text)).toEqual(contentOf(expected));
      } finally {
        await stack.stop();
      }
    },
    300_000,
  );
});
