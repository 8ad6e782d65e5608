import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { requireServers, rounds, until } from "@tidemark/testkit";
import type { Answer, Api } from "../stack/client.ts";
import { describeWith } from "../stack/describe-with.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";

const servers = await requireServers(["nats-server", "minio"]);

const RUNS = 250;
const POINTS = 20;

type Result = {
  readonly run_ids: string[];
  readonly ok: boolean;
  readonly copies?: { copy_id: string; state: string }[];
};

describeWith(servers)("moves and copies of runs", () => {
  let stack: OwnStack;
  beforeAll(async () => {
    stack = await startStack("split");
  });
  afterAll(() => stack.stop());

  const idsIn = async (api: Api, project: string): Promise<string[]> =>
    (await api.get(`/runs?project=${project}&limit=1000`)).json.runs.map(({ id }: { id: string }) => id);
  const pointsIn = async (api: Api, project: string): Promise<number> =>
    (await api.get(`/api/overview?project=${project}`)).json.overview.metric_points;

  /** Sends a request again and again under its key, as a client does, until all is done. */
  const finish = async (api: Api, path: string, body: object): Promise<Answer> => {
    const headers = { "idempotency-key": randomUUID() };
    let answer: Answer | undefined;
    await until(path, async () => {
      answer = await api.post(path, body, { headers });
      if (answer.status !== 200) return false;
      const { results, copying = 0 } = answer.json as { results: Result[]; copying?: number };
      return copying === 0 && results.every(({ ok }) => ok);
    });
    return answer!;
  };

  test("lose and double nothing when the runs service is killed in the middle of them", async () => {
    const { api } = await stack.organization();
    const ids: string[] = [];
    for (let i = 0; i < RUNS; i++) {
      const { id } = (await api.post("/runs", { project: "from" })).json.run as { id: string };
      ids.push(id);
      const points = Array.from({ length: POINTS }, (_, step) => ({ step, metrics: { loss: step } }));
      expect((await api.post(`/runs/${id}/metrics/batch`, { points })).status).toBe(200);
    }
    const copying = finish(api, "/api/runs/copy", { run_ids: ids, project: "copies" });
    for (let kill = 0; kill < rounds(3); kill++) {
      const before = (await idsIn(api, "copies")).length;
      await until("some copies", async () => {
        const now = (await idsIn(api, "copies")).length;
        return now > before || now === RUNS;
      });
      await stack.restart("runs");
    }
    const copied = (await copying).json.results as Result[];
    const copyIds = copied.flatMap(({ copies }) => copies!.map(({ copy_id: id }) => id));
    expect((await idsIn(api, "copies")).toSorted()).toEqual(copyIds.toSorted());
    expect(copyIds).toHaveLength(RUNS);
    const moving = finish(api, "/api/runs/move", { run_ids: ids, project: "to" });
    await until("some moved runs", async () => (await idsIn(api, "to")).length > 0);
    await stack.restart("runs");
    await moving;
    expect([(await idsIn(api, "to")).toSorted(), await idsIn(api, "from")]).toEqual([ids.toSorted(), []]);
    const points = [await pointsIn(api, "from"), await pointsIn(api, "to"), await pointsIn(api, "copies")];
    expect(points).toEqual([0, RUNS * POINTS, RUNS * POINTS]);
    const first = (await api.get(`/runs/${copyIds[0]}/metrics?limit=5000`)).json.metrics;
    expect(first.map(({ step }: { step: number }) => step)).toEqual(Array.from({ length: POINTS }, (_, i) => i));
  });
});
