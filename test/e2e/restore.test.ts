import { createHash, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { encodeLine, type ArchiveLine } from "@tidemark/archive";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { asOperator, createTeam, signIn, type Person } from "../stack/people.ts";
import { keyOf } from "./removal.fixture.ts";
import { contentOf, linesOf, ofKind, writeEverything, writeVersion } from "./archive.fixture.ts";

const EXPORT = "/api/export?format=ndjson";
const RESTORE = "/api/imports/archive";

/** Sends an archive. */
function restore(
  api: Pick<Api, "post">,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return api.post(RESTORE, undefined, {
    rawBody: body,
    headers: { "content-type": "application/x-ndjson", ...headers },
  });
}

const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describeModes("restored archives", (stack) => {
  /** Writes everything into a project, and returns its archive. */
  const exported = async () => {
    const { api } = await stack().organization();
    const { runId, artifactId } = await writeEverything(api, "demo");
    const version = await writeVersion(api, runId, "weights");
    const { run } = (await api.get(`/runs/${runId}`)).json;
    const child = (await api.post(`/api/runs/${runId}/forks`, { step: 1, name: "child" })).json.run;
    await api.post(`/api/runs/${child.id}/stop`, { reason: "enough" });
    await api.patch(`/runs/${runId}`, { status: "finished" });
    const blocks = [{ kind: "markdown", text: "# é", run: runId }];
    await api.post("/api/reports", { title: "Weekly", project_id: run.project_id, blocks });
    const { text } = await api.get(`${EXPORT}&project=demo`);
    return { api, text, runId, artifactId, versionId: version.id };
  };

  test("are the same in an empty organization, with all bytes", async () => {
    const { text, runId, artifactId, versionId } = await exported();
    // Ids of runs are of the whole installation.
    const other = await stack().organization();
    const answer = await restore(other.api, text);
    expect(answer.status).toBe(200);
    const { archive_id: archiveId, counts, replaced, missing_bytes: missing, warnings } = answer.json;
    expect(counts).toEqual(ofKind(linesOf({ text }), "end")[0]!.counts);
    expect(warnings).toEqual([]);
    const runs = ofKind(linesOf({ text }), "run");
    expect(replaced.map(({ type, old }: { type: string; old: string }) => [type, old])).toEqual(
      runs.map(({ id }) => ["run", id]),
    );
    const idOf = new Map<string, string>(
      replaced.map((row: { old: string; new: string }) => [row.old, row.new] as const),
    );
    const [png, weights] = [Buffer.from("png"), Buffer.from("weights")];
    expect(missing).toEqual([sha256Of(png), sha256Of(weights)].toSorted());

    const again = await other.api.get(`${EXPORT}&project=demo`);
    let expected = text;
    for (const [old, id] of idOf) expected = expected.replaceAll(old, id);
    expect(contentOf(again.text)).toEqual(contentOf(expected));

    const entry = ofKind(linesOf({ text }), "version.entries")[0]!.entries[0]!.id;
    const downloads = [
      [png, `/api/artifacts/${artifactId}/download`],
      [weights, `/api/artifact-entries/${entry}/download`],
    ] as const;
    for (const [bytes, path] of downloads) {
      expect((await other.api.get(path)).status).toBe(404);
      const url = `${RESTORE}/${archiveId}/bytes/${sha256Of(bytes)}`;
      const wrong = await other.api.call("PUT", url, { rawBody: Buffer.from("x".repeat(bytes.length)) });
      expect(wrong.status).toBe(400);
      for (let round = 0; round < 2; round++) {
        const put = await other.api.call("PUT", url, { rawBody: bytes });
        expect([put.status, put.json]).toEqual([200, { sha256: sha256Of(bytes), size_bytes: bytes.length }]);
      }
      const download = await other.api.get(path);
      expect([download.status, download.text]).toEqual([200, bytes.toString()]);
    }
    expect((await other.api.get(`/api/artifact-versions/${versionId}`)).json.artifact_version).toMatchObject({
      aliases: ["best", "latest"],
    });
    const summary = (await other.api.get(`/runs/${idOf.get(runId)}`)).json.run;
    expect(summary).toMatchObject({ status: "finished", name: "r é" });
    expect((await other.api.get("/runs?project=demo")).json.runs).toHaveLength(2);
  });

  test("of the same organization are added to its existing runs", async () => {
    const { api, text } = await exported();
    const before = await api.get(`${EXPORT}&project=demo`);
    const answer = await restore(api, gzipSync(text), { "content-encoding": "gzip" });
    expect(answer.status).toBe(200);
    const types = new Set(answer.json.replaced.map(({ type }: { type: string }) => type));
    expect(types).toEqual(new Set(["run", "artifact", "version", "entry", "edge", "report"]));
    expect(answer.json.warnings).toHaveLength(2);
    const both = linesOf(await api.get(`${EXPORT}&project=demo`));
    const own = linesOf(before);
    for (const kind of ["run", "points", "artifact", "version", "report", "trace", "attribute", "object"] as const) {
      expect([kind, ofKind(both, kind).length]).toEqual([kind, 2 * ofKind(own, kind).length]);
    }
    expect(ofKind(both, "project")).toEqual(ofKind(own, "project"));
    expect(ofKind(both, "version").map(({ version_index }) => version_index)).toEqual([0, 1]);
  });

  test("hold the views of the user who restores them, and none of a key", async () => {
    const { browser } = await signIn(stack());
    await browser.post("/runs", { project: "demo", name: "r" });
    await browser.post("/api/workspace-views", { name: "Daily", project: "demo", payload: { sections: [] } });
    const { text } = await browser.get(`${EXPORT}&project=demo`);
    const other = await stack().organization();
    const skipped = await restore(other.api, text);
    expect(skipped.json).toMatchObject({ counts: { run: 1, view: 0 }, warnings: [expect.stringContaining("views")] });
    const again = await signIn(stack());
    const restored = await restore(again.browser, text);
    expect(restored.json).toMatchObject({ counts: { view: 1 }, warnings: [] });
    const views = (await again.browser.get("/api/workspace-views")).json;
    expect(JSON.stringify(views)).toContain("Daily");
  });

  test("restore views as shared or private as they were, for the user who restores them", async () => {
    const { browser } = await signIn(stack());
    await browser.post("/runs", { project: "demo", name: "r" });
    for (const visibility of ["organization", "private"])
      await browser.post("/api/workspace-views", { name: visibility, visibility });
    const { text } = await browser.get(`${EXPORT}&project=demo`);
    expect(text.match(/"visibility"/g)).toHaveLength(1);
    const team = await createTeam(stack());
    const member = await team.join("member");
    expect((await restore(member.browser, text)).json).toMatchObject({ counts: { view: 2 }, warnings: [] });
    const listed = async ({ browser: by }: Person) =>
      (await by.get("/api/workspace-views")).json.workspace_views.map((view: Record<string, unknown>) => [
        view["name"],
        view["owner_user_id"],
        view["is_owner"],
      ]);
    const shared = ["organization", member.userId];
    expect(await listed(member)).toEqual([
      ["private", undefined, undefined],
      [...shared, true],
    ]);
    expect(await listed(team.owner)).toEqual([[...shared, false]]);
    const faulty = await restore(browser, text.replace('"visibility":"organization"', '"visibility":"public"'));
    expect(faulty.status).toBe(400);
  });

  test("are not visible before their end, and continue with the same key", async () => {
    const { text } = await exported();
    const { api } = await stack().organization();
    const key = { "idempotency-key": randomUUID() };
    const cut = text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1);
    for (const part of [cut, text.slice(0, cut.length - 20), ""]) {
      expect(await restore(api, part, key)).toMatchObject({ status: 400, json: { code: "archive_incomplete" } });
      expect((await api.get("/projects")).json.projects).toEqual([]);
    }
    const other = text.replace('"type":"export"', '"type":"export" ');
    expect(await restore(api, other, key)).toMatchObject({ status: 409, json: { code: "idempotency_key_reused" } });
    const answer = await restore(api, text, key);
    expect(answer.status).toBe(200);
    const repeated = await restore(api, text, key);
    expect([repeated.status, repeated.json]).toEqual([200, answer.json]);
    expect(repeated.headers["idempotency-replayed"]).toBe("true");
    expect(await restore(api, other, key)).toMatchObject({ status: 409 });
    expect((await api.get("/runs?project=demo")).json.runs).toHaveLength(2);
  });

  test("answer under their key to their sender, and not to another key of the organization", async () => {
    const { text } = await exported();
    const { owner } = await createTeam(stack());
    const [sender, other] = [await keyOf(stack(), owner), await keyOf(stack(), owner)];
    const key = { "idempotency-key": randomUUID() };
    const answer = await restore(sender, text, key);
    expect(answer.status).toBe(200);
    const refused = await restore(other, text, key);
    expect([refused.status, refused.json.code]).toEqual([409, "idempotency_key_reused"]);
    expect((await restore(sender, text, key)).json).toEqual(answer.json);
  });

  test("in many pieces are one", async () => {
    const { api } = await stack().organization();
    const { id } = (await api.post("/runs", { project: "large" })).json.run;
    for (let from = 0; from < 30_000; from += 500) {
      const points = Array.from({ length: 500 }, (_, i) => ({
        step: from + i,
        metrics: { a: Math.sin(from + i), b: Math.cos(from + i), c: Math.sqrt(from + i) },
      }));
      expect((await api.post(`/runs/${id}/metrics/batch`, { points })).status).toBe(200);
    }
    const { text } = await api.get(`${EXPORT}&project=large`);
    expect(text.length).toBeGreaterThan(3 * 1024 * 1024);
    const other = await stack().organization();
    const key = { "idempotency-key": randomUUID() };
    expect(await restore(other.api, text.slice(0, -1000), key)).toMatchObject({
      status: 400,
      json: { code: "archive_incomplete" },
    });
    const answer = await restore(other.api, text, key);
    expect(answer.json).toMatchObject({ counts: { points: 90_000 }, warnings: [] });
    const [{ new: restored }] = answer.json.replaced;
    const again = await other.api.get(`${EXPORT}&project=large`);
    expect(contentOf(again.text)).toEqual(contentOf(text.replaceAll(id, restored)));
  });

  const small = async () => {
    const { api } = await stack().organization();
    await api.post("/runs", { project: "small", name: "r" });
    return { ...(await stack().organization()), text: (await api.get(`${EXPORT}&project=small`)).text };
  };
  const changed = (text: string, change: (lines: ArchiveLine[]) => ArchiveLine[]): string =>
    change(linesOf({ text })).map(encodeLine).join("");

  test.each<[string, (text: string) => string, number]>([
    ["do not begin as one", (text) => text.slice(text.indexOf("\n") + 1), 1],
    ["have a line that is not JSON", (text) => text.replace("\n", "\n{\n"), 2],
    ["have an unknown member", (text) => text.replace('"type":"run"', '"type":"run","x":1'), 3],
    ["have a text with NUL", (text) => text.replace('"name":"r"', '"name":"\\u0000"'), 3],
    ["have a run of no project", (text) => changed(text, ([first, , ...rest]) => [first!, ...rest]), 2],
    ["have other counts", (text) => text.replace('"run":1', '"run":2'), 4],
    ["are of a newer version", (text) => text.replace('"version":1', '"version":2'), 1],
  ])("that %s are refused with the line, and leave nothing", async (_what, change, position) => {
    const { api, text } = await small();
    const key = { "idempotency-key": randomUUID() };
    const refused = await restore(api, change(text), key);
    expect(refused).toMatchObject({ status: 400, json: { code: "archive_invalid", position } });
    expect(refused.json.error).toContain(`line ${position}`);
    expect((await api.get("/projects")).json.projects).toEqual([]);
    // The key is free again.
    expect((await restore(api, text, key)).status).toBe(200);
  });

  test("pass over types that this version does not know", async () => {
    const { api, text } = await small();
    const answer = await restore(api, text.replace("\n", '\n{"type":"mystery","a":1}\n\n'));
    expect(answer).toMatchObject({ status: 200, json: { counts: { run: 1 } } });
    expect(answer.json.warnings).toEqual(['1 lines of the unknown type "mystery" were skipped']);
  });

  test("need a scope to write, and keep to the project of the key", async () => {
    const { api, orgId, text } = await small();
    const keyOf = async (wish: object) => {
      const made = await stack().api.post(`/api/orgs/${orgId}/api-keys`, { name: "k", ...wish }, asOperator(stack()));
      return api.as(made.json.api_key as string);
    };
    expect((await restore(api.as(null), text)).status).toBe(401);
    expect((await restore(await keyOf({ scopes: ["export:read"] }), text)).status).toBe(403);
    const { project } = (await api.post("/projects", { name: "own" })).json;
    const scoped = await keyOf({ scopes: ["imports:write"], project_id: project.id });
    expect((await restore(scoped, text)).status).toBe(403);
    expect((await restore(scoped, text.replaceAll('"small"', '"own"'))).status).toBe(200);
  });

  test("take bytes that they name, only from their own organization", async () => {
    const { text } = await exported();
    const { api } = await stack().organization();
    const stranger = (await stack().organization()).api;
    const { archive_id: id } = (await restore(api, text)).json;
    const png = Buffer.from("png");
    const url = `${RESTORE}/${id}/bytes/${sha256Of(png)}`;
    expect((await stranger.call("PUT", url, { rawBody: png })).status).toBe(404);
    expect((await api.call("PUT", url, { rawBody: Buffer.from("pn") })).status).toBe(400);
    expect((await api.call("PUT", url, { rawBody: Buffer.from("pngx") })).status).toBe(400);
    const unknown = Buffer.from("unknown");
    for (const path of [
      `${id}/bytes/${sha256Of(unknown)}`,
      `${id}/bytes/x`,
      `${randomUUID()}/bytes/${sha256Of(png)}`,
    ]) {
      expect((await api.call("PUT", `${RESTORE}/${path}`, { rawBody: unknown })).status).toBe(404);
    }
    expect((await api.call("PUT", url, { rawBody: png })).status).toBe(200);
  });
});
