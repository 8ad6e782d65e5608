import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { PATIENCE_MS, requireServers, until } from "@tidemark/testkit";
import { describeWith } from "../stack/describe-with.ts";
import { queryDatabase } from "../stack/attach.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";

const servers = await requireServers(["nats-server", "minio"]);

/** Milliseconds between two reports of a gateway, and some more for one that fails. */
const REPORTED_MS = 90_000;

describeWith(servers)("signs of life while the service of runs is gone", () => {
  let stack: OwnStack;
  beforeAll(async () => {
    stack = await startStack("split");
  });
  afterAll(() => stack?.stop());

  test(
    "stay in the gateway until it is back",
    async () => {
      const { api } = await stack.organization();
      const id: string = (await api.post("/runs", {})).json.run.id;
      const poll = async () => (await api.get(`/api/runs/${id}/stop-signal`)).status;
      expect(await poll()).toBe(200);
      await queryDatabase(stack, "UPDATE runs.runs SET created_at = created_at - interval '1 day' WHERE id = $1", [id]);
      await stack.children.get("runs")?.end("SIGKILL");
      // Stop signals are answered from memory, so the training keeps polling.
      expect(await poll()).toBe(200);
      const gateway = stack.children.get("gateway")!;
      const failed = () => gateway.output().includes("signs of life of runs could not be reported");
      await until("a report that fails", () => Promise.resolve(failed()), REPORTED_MS);
      await stack.restart("runs");
      const stale = async () => (await api.get(`/api/runs/summary?stale=true`)).json.total as number;
      expect(await stale()).toBe(1);
      await gateway.end();
      await stack.restart("gateway");
      expect(await stale()).toBe(0);
    },
    2 * REPORTED_MS + PATIENCE_MS,
  );
});
