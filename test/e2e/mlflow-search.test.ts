import { expect, test } from "@jest/globals";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

// Searches of runs and experiments, on the wire; test/interop/mlflow.test.ts has the client itself.

const ROOT = "/api/2.0/mlflow";
const post = (api: Api, path: string, body: object): Promise<Answer> => api.post(`${ROOT}/${path}`, body);

async function newRun(api: Api, fields: object): Promise<string> {
  const { status, json } = await post(api, "runs/create", fields);
  expect(status).toBe(200);
  return json.run.info.run_id as string;
}

type Found = { runs?: { info: { run_name: string } }[]; next_page_token?: string };

describeModes("searches of MLflow", (stack) => {
  test("find whole runs, natively logged ones too, page by page", async () => {
    const { api } = await stack().organization();
    const id = (await post(api, "experiments/create", { name: "vision" })).json.experiment_id as string;
    const first = await newRun(api, { experiment_id: id, run_name: "first", tags: [{ key: "k", value: "v" }] });
    const batch = { metrics: [{ key: "loss", value: "NaN", timestamp: 1 }], params: [{ key: "lr", value: "0.001" }] };
    await post(api, "runs/log-batch", { run_id: first, ...batch });
    await post(api, "runs/log-inputs", { run_id: first, datasets: [{ dataset: { name: "d", digest: "1" } }] });
    const native = (await api.post("/runs", { project: "vision", name: "native", config: { lr: 2 } })).json.run
      .id as string;
    await api.post(`/runs/${native}/metrics`, { metrics: { loss: 0.5 }, step: 3 });
    await newRun(api, { experiment_id: id, run_name: "last" });

    const search = async (fields: object = {}): Promise<Found> => {
      const { status, json } = await post(api, "runs/search", { experiment_ids: [id], ...fields });
      expect([status, json]).toEqual([200, expect.anything()]);
      return json as Found;
    };
    const names = ({ runs = [] }: Found): string[] => runs.map(({ info }) => info.run_name);
    expect(names(await search())).toEqual(["last", "native", "first"]);
    expect(names(await search({ filter: "metrics.loss < 1 AND params.lr = '2'" }))).toEqual(["native"]);
    expect(names(await search({ filter: "tags.k = 'v'" }))).toEqual(["first"]);
    expect(names(await search({ filter: `attributes.run_id IN ('${first}')` }))).toEqual(["first"]);
    expect(names(await search({ filter: "attributes.status = 'FINISHED'" }))).toEqual([]);
    expect(names(await search({ order_by: ["metrics.loss DESC"] }))).toEqual(["native", "first", "last"]);
    expect(await search({ experiment_ids: ["77", "x"] })).toEqual({});

    // As runs/get writes it.
    const { json } = await api.get(`${ROOT}/runs/get?run_id=${first}`);
    expect((await search({ filter: "params.lr = '0.001'" })).runs).toEqual([json.run]);

    const pages: string[] = [];
    for (let token: string | undefined = ""; token !== undefined;) {
      const page: Found = await search({ max_results: 1, page_token: token, order_by: ["attributes.start_time DESC"] });
      pages.push(...names(page));
      token = page.next_page_token;
    }
    expect(pages).toEqual(["last", "native", "first"]);

    await post(api, "runs/delete", { run_id: first });
    expect(names(await search())).toEqual(["last", "native"]);
    expect(names(await search({ run_view_type: "DELETED_ONLY" }))).toEqual(["first"]);
    expect(names(await search({ run_view_type: "ALL" }))).toEqual(["last", "native", "first"]);
  });

  test("find experiments, Default first until something is written to it", async () => {
    const { api } = await stack().organization();
    for (const name of ["a", "b", "c"])
      await post(api, "experiments/create", { name, tags: [{ key: "k", value: name }] });
    const search = async (fields: object = {}): Promise<string[]> => {
      const { status, json } = await post(api, "experiments/search", { max_results: 100, ...fields });
      expect(status).toBe(200);
      return ((json.experiments ?? []) as { name: string }[]).map(({ name }) => name);
    };
    expect(await search()).toEqual(["Default", "c", "b", "a"]);
    expect(await search({ filter: "tags.k != 'a'" })).toEqual(["c", "b"]);
    expect(await search({ filter: "name LIKE '%a%'" })).toEqual(["Default", "a"]);
    expect(await search({ filter: "experiment_id IN ('0', '2')" })).toEqual(["Default", "b"]);
    expect(await search({ filter: "experiment_id != '0'", order_by: ["name ASC"] })).toEqual(["a", "b", "c"]);
    const pages: string[] = [];
    for (let token: string | undefined = ""; token !== undefined;) {
      const { json } = await api.get(
        `${ROOT}/experiments/search?max_results=1&page_token=${encodeURIComponent(token)}`,
      );
      pages.push(...(json.experiments as { name: string }[]).map(({ name }) => name));
      token = json.next_page_token as string | undefined;
    }
    expect(pages).toEqual(["Default", "c", "b", "a"]);
    await newRun(api, {});
    expect(await search({ filter: "name = 'Default'" })).toEqual(["Default"]);
    await post(api, "experiments/delete", { experiment_id: "1" });
    expect(await search({ view_type: "DELETED_ONLY" })).toEqual(["a"]);
    expect((await search({ view_type: "ALL" })).toSorted()).toEqual(["Default", "a", "b", "c"]);
  });

  test("are refused", async () => {
    const { api } = await stack().organization();
    const refused: readonly (readonly [path: string, fields: object, text: string])[] = [
      ["runs", { filter: "metrics.a > 1 OR metrics.b > 1" }, "joined by AND"],
      ["runs", { filter: "dataset.name = 'x'" }, "dataset"],
      ["runs", { order_by: ["attributes.status"] }, "order_by"],
      ["runs", { run_view_type: "SOME" }, "run_view_type must be one of"],
      ["runs", { max_results: 50_001 }, "max_results"],
      ["runs", { max_results: 0 }, "max_results"],
      ["runs", { page_token: "x" }, "page_token"],
      ["runs", { experiment_ids: Array.from({ length: 1001 }, (_, i) => `${i}`) }, "1000 items"],
      ["experiments", { filter: "metrics.a = 1" }, "metric"],
      ["experiments", { filter: "tags.mlflow.note.content = 'x'" }, "mlflow.note.content"],
      ["experiments", { filter: "experiment_id LIKE '1'" }, "LIKE"],
      ["experiments", { view_type: "SOME" }, "view_type must be one of"],
      ["experiments", { max_results: 50_001 }, "max_results"],
      ["experiments", { page_token: "x" }, "page_token"],
    ];
    for (const [path, fields, text] of refused) {
      expect([path, fields, await post(api, `${path}/search`, fields)]).toMatchObject([
        path,
        fields,
        { status: 400, json: { error_code: "INVALID_PARAMETER_VALUE", message: expect.stringContaining(text) } },
      ]);
    }
  });
});
