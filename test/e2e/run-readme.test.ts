import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { describeModes } from "../stack/modes.ts";
import { createTeam } from "../stack/people.ts";
import { linesOf, ofKind } from "./archive.fixture.ts";

const BYTES_MAX = 65_536;

describeModes("the readme of a run", (stack) => {
  const runOf = async () => {
    const { api, orgId } = await stack().organization({
      scopes: ["sdk:ingest", "export:read", "runs:control", "api_keys:write"],
    });
    const { run } = (await api.post("/runs", { project: "p", name: "named" })).json;
    return { api, orgId, run, path: `/api/runs/${run.id}/readme` };
  };

  test("is empty, written, replaced and cleared", async () => {
    const { api, path } = await runOf();
    expect(await api.get(path)).toMatchObject({ status: 200, json: { markdown: "" } });
    for (const markdown of ["\n# Why\n\nBecause é.  \n", "é".repeat(BYTES_MAX / 2), "\u0001".repeat(BYTES_MAX), ""]) {
      expect(await api.call("PUT", path, { body: { markdown } })).toMatchObject({ status: 200, json: { markdown } });
      expect((await api.get(path)).json).toEqual({ markdown });
    }
  });

  test("is in no row of a run, and not searched", async () => {
    const { api, run, path } = await runOf();
    await api.call("PUT", path, { body: { markdown: "unfindable" } });
    for (const read of [`/runs/${run.id}`, "/runs", "/api/runs/summary", `/api/runs/${run.id}/lineage`]) {
      const { status, text } = await api.get(read);
      expect([status, text.includes("unfindable"), text.includes("readme")]).toEqual([200, false, false]);
    }
    expect((await api.get("/runs?q=unfindable")).json.runs).toEqual([]);
    expect((await api.get("/runs?q=named")).json.runs).toHaveLength(1);
  });

  test.each([
    ["no text", {}],
    ["null", { markdown: null }],
    ["a number", { markdown: 1 }],
    ["65,537 bytes", { markdown: "x".repeat(BYTES_MAX + 1) }],
    ["65,537 bytes of fewer characters", { markdown: "é".repeat(BYTES_MAX / 2) + "x" }],
    ["NUL", { markdown: "a\0" }],
    ["a lone surrogate", { markdown: "\ud800" }],
  ])("with %s is 400, and 404 for a run that is not there", async (_what, body) => {
    const { api, path } = await runOf();
    await api.call("PUT", path, { body: { markdown: "kept" } });
    expect(await api.call("PUT", path, { body })).toMatchObject({ status: 400, json: { field: "markdown" } });
    expect((await api.get(path)).json.markdown).toBe("kept");
    for (const id of [randomUUID(), "not-a-uuid"]) {
      expect((await api.call("PUT", `/api/runs/${id}/readme`, { body })).status).toBe(404);
      expect((await api.get(`/api/runs/${id}/readme`)).status).toBe(404);
    }
  });

  test("needs what PATCH of the run needs to be written, and export:read to be read", async () => {
    const { api, orgId, path } = await runOf();
    const keyWith = async (scopes: string[]) =>
      api.as((await api.post(`/api/orgs/${orgId}/api-keys`, { scopes })).json.api_key as string);
    const [reader, writer] = [await keyWith(["export:read"]), await keyWith(["sdk:ingest"])];
    const statuses = async (who: typeof api) => [
      (await who.get(path)).status,
      (await who.call("PUT", path, { body: { markdown: "x" } })).status,
    ];
    expect(await statuses(reader)).toEqual([200, 403]);
    expect(await statuses(writer)).toEqual([403, 200]);
    expect(await statuses(api.as(null))).toEqual([401, 401]);
    expect(await statuses((await stack().organization()).api)).toEqual([404, 404]);

    const team = await createTeam(stack());
    const { id } = (await team.owner.browser.post("/runs", {})).json.run;
    const viewer = await team.join("viewer");
    expect((await viewer.browser.get(`/api/runs/${id}/readme`)).status).toBe(200);
    const put = (person: typeof viewer) =>
      person.browser.call("PUT", `/api/runs/${id}/readme`, { body: { markdown: "x" } });
    expect([(await put(viewer)).status, (await put(await team.join("member"))).status]).toEqual([403, 200]);
  });

  test("of a deleted run is gone until the run is restored", async () => {
    const { api, run, path } = await runOf();
    await api.call("PUT", path, { body: { markdown: "kept" } });
    await api.call("DELETE", `/runs/${run.id}`);
    expect((await api.get(path)).status).toBe(404);
    expect((await api.call("PUT", path, { body: { markdown: "x" } })).status).toBe(404);
    await api.post(`/runs/${run.id}/restore`);
    expect((await api.get(path)).json).toEqual({ markdown: "kept" });
  });

  test("is exported into an archive and restored; an archive without one restores as before", async () => {
    const { api, run, path } = await runOf();
    await api.call("PUT", path, { body: { markdown: "# é\n" } });
    const bare = (await api.post("/runs", { project: "p", name: "bare" })).json.run;
    const { text } = await api.get("/api/export?format=ndjson&project=p");
    expect(ofKind(linesOf({ text }), "run").map(({ name, readme }) => [name, readme])).toEqual([
      ["named", "# é\n"],
      ["bare", undefined],
    ]);
    const named = await api.get(`/api/export?format=ndjson&run_ids=${run.id}`);
    expect(ofKind(linesOf(named), "run").map(({ readme }) => readme)).toEqual(["# é\n"]);

    const other = await stack().organization();
    const restore = (body: string) =>
      other.api.post("/api/imports/archive", undefined, {
        rawBody: body,
        headers: { "content-type": "application/x-ndjson" },
      });
    const { json } = await restore(text);
    const idOf = (old: string) => json.replaced.find((row: { old: string }) => row.old === old).new as string;
    expect((await other.api.get(`/api/runs/${idOf(run.id)}/readme`)).json).toEqual({ markdown: "# é\n" });
    expect((await other.api.get(`/api/runs/${idOf(bare.id)}/readme`)).json).toEqual({ markdown: "" });

    const tooLong = text.replace(String.raw`"readme":"# é\n"`, `"readme":"${"x".repeat(BYTES_MAX + 1)}"`);
    expect(await restore(tooLong)).toMatchObject({ status: 400, json: { code: "archive_invalid", position: 3 } });
  });
});
