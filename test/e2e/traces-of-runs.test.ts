import { randomBytes, randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { describeModes } from "../stack/modes.ts";

const traceIdOf = (): string => randomBytes(16).toString("hex");

describeModes("traces of some runs", (stack) => {
  test("the traces of some runs are one list, also of two runs with one id and start", async () => {
    const { api } = await stack().organization();
    const newRun = async (name: string, project: string): Promise<string> =>
      (await api.post("/runs", { name, project })).json.run.id;
    const [id, other] = [await newRun("r1", "demo"), await newRun("r2", "elsewhere")];
    const send = (run: string, events: readonly unknown[]) =>
      api.post(`/api/runs/${run}/traces/events`, { events }, { headers: { "idempotency-key": run } });
    const [shared, own] = [traceIdOf(), traceIdOf()];
    const at = (traceId: string, second: number) => ({
      trace_id: traceId,
      span_id: "1".repeat(16),
      event_id: randomUUID(),
      sequence: 1,
      event_kind: "finished",
      name: "roll",
      kind: "rollout",
      status: "ok",
      started_at: `2020-01-01T00:00:0${second}Z`,
      ended_at: `2020-01-01T00:00:0${second}Z`,
    });
    expect((await send(id, [at(shared, 2), at(own, 1)])).status).toBe(200);
    expect((await send(other, [at(shared, 2), at(traceIdOf(), 3)])).status).toBe(200);
    const listed = async (more = "") => (await api.get(`/api/traces?run_ids=${id},${other}${more}`)).json;
    const all: { run_id: string; started_at: string }[] = (await listed()).traces;
    expect(all.map(({ run_id: run, started_at: start }) => [run === id ? "r1" : "r2", start.slice(17, 19)])).toEqual(
      id > other
        ? [
            ["r2", "03"],
            ["r1", "02"],
            ["r2", "02"],
            ["r1", "01"],
          ]
        : [
            ["r2", "03"],
            ["r2", "02"],
            ["r1", "02"],
            ["r1", "01"],
          ],
    );
    for (const sort of ["", "&sort=duration"]) {
      const pages: unknown[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const page = await listed(`${sort}&limit=1&cursor=${cursor}`);
        pages.push(...page.traces);
        cursor = page.next_cursor as string | null;
      }
      expect(pages).toEqual(all);
    }
    const stranger = (await stack().organization()).api;
    expect((await stranger.get(`/api/traces?run_ids=${id}`)).status).toBe(404);
    expect((await api.get(`/api/traces?run_ids=${id},${randomUUID()}`)).status).toBe(404);
    const many = Array.from({ length: 51 }, () => randomUUID()).join();
    for (const ids of ["x", many]) {
      expect(await api.get(`/api/traces?project=demo&run_ids=${ids}`)).toMatchObject({
        status: 400,
        json: { field: "run_ids" },
      });
    }
  });
});
