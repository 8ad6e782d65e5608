import { expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { importChunk } from "../stack/imports.ts";
import { describeModes } from "../stack/modes.ts";
import { quick } from "../stack/settings.ts";
import { createTeam } from "../stack/people.ts";
import { queryDatabase } from "../stack/attach.ts";
import { writeEverything, writeVersion } from "./archive.fixture.ts";
import { bytesOf, keyOf, letTimePass, rowsOf, tablesWith, untilRemoved } from "./removal.fixture.ts";

// One file, because all cases share a stack in each mode.

// Columns that may name a removed run: its id, which is never reused; the audit log; the version that it produced, which stays; and rows that
// expire by age.
const MAY_NAME = [
  "artifacts.versions",
  "control.audit_events",
  "platform.idempotency_0",
  "platform.idempotency_1",
  "platform.idempotency_2",
  "runs.run_ids",
  "runs.visibility_changes",
];

describeModes(
  "what is past its time",
  (stack) => {
    test("of a run nothing stays in any table or in the bucket, and its neighbor is as it was", async () => {
      const team = await createTeam(stack());
      const api = await keyOf(stack(), team.owner);
      const kept = await writeEverything(api, "p");
      const stored = () =>
        queryDatabase<{ kind: string; bytes: string }>(
          stack(),
          "SELECT kind, sum(bytes) AS bytes FROM platform.stored_bytes WHERE org_id = $1 GROUP BY kind ORDER BY kind",
          [team.orgId],
        );
      const storedBefore = await stored();
      const gone = await writeEverything(api, "p");
      const patched = await api.patch(`/runs/${gone.runId}`, {
        metadata: { notes: "canary-notes" },
        name: "canary-name",
      });
      expect(patched.status).toBe(200);
      const readme = { markdown: "canary-readme" };
      expect((await api.call("PUT", `/api/runs/${gone.runId}/readme`, { body: readme })).status).toBe(200);
      const upload = { name: "canary.txt", content_base64: Buffer.from("canary-bytes").toString("base64") };
      expect((await api.post(`/api/runs/${gone.runId}/artifacts/upload`, upload)).status).toBe(200);
      const version = await writeVersion(api, gone.runId, "version-bytes");
      const inputs = await api.post(`/api/runs/${gone.runId}/artifact-inputs`, { ref: "policy:best" });
      expect([inputs.status, inputs.text]).toEqual([200, expect.anything()]);
      await api.post(`/api/runs/${gone.runId}/stop`, { reason: "canary-reason" });
      await api.get(`/api/runs/${gone.runId}/stop-signal`);

      const read = () =>
        Promise.all(
          [
            `/api/runs/${kept.runId}/logs`,
            `/api/runs/${kept.runId}/attributes`,
            `/api/runs/${kept.runId}/objects`,
            `/api/runs/${kept.runId}/artifacts`,
            `/api/runs/${kept.runId}/traces`,
            `/api/runs/${kept.runId}/metrics?key=loss`,
            `/api/artifact-versions/${version.id}`,
          ].map(async (path) => [path, (await api.get(path)).text]),
        );
      const before = await read();
      const holders = await tablesWith(stack(), gone.runId);
      expect(holders.length).toBeGreaterThan(20);
      expect(await tablesWith(stack(), "canary-")).not.toEqual([]);
      expect((await bytesOf(stack(), team.orgId)).join()).toContain("canary-bytes");
      const usage = async () => {
        const [row] = await queryDatabase<{ points: string; series: string; runs: string }>(
          stack(),
          `SELECT (SELECT sum(points) FROM ingest.project_points WHERE org_id = $1) + (SELECT sum(points) FROM ingest.rank_points WHERE org_id = $1) AS points,
                  (SELECT sum(series) FROM ingest.project_points WHERE org_id = $1) AS series,
                  (SELECT sum(runs_running + runs_finished + runs_failed + runs_deleted) FROM runs.projects WHERE org_id = $1) AS runs`,
          [team.orgId],
        );
        return [Number(row!.points), Number(row!.series), Number(row!.runs)];
      };
      const used = await usage();

      expect((await api.call("DELETE", `/runs/${gone.runId}`)).status).toBe(200);
      await letTimePass(stack(), "runs.runs", gone.runId);
      await untilRemoved(stack(), gone.runId);

      expect((await tablesWith(stack(), gone.runId)).filter((name) => !MAY_NAME.includes(name))).toEqual([]);
      expect((await tablesWith(stack(), "canary-")).filter((name) => !name.includes("idempotency"))).toEqual([]);
      const bytes = (await bytesOf(stack(), team.orgId)).join();
      expect([bytes.includes("canary-bytes"), bytes.includes("version-bytes")]).toEqual([false, true]);
      expect(await read()).toEqual(before);
      const [run] = (await api.get("/runs")).json.runs as { id: string }[];
      expect(run!.id).toBe(kept.runId);
      expect((await api.post(`/runs/${gone.runId}/restore`, {})).status).toBe(404);
      expect((await api.call("DELETE", `/runs/${gone.runId}`)).status).toBe(404);
      expect((await team.owner.browser.get("/runs?deleted=true")).json.runs).toEqual([]);
      expect(storedBefore.map(({ kind }) => kind)).toEqual(["attributes", "documents", "logs", "objects", "traces"]);
      expect(await stored()).toEqual(storedBefore);
      // Both runs had the same.
      expect((await usage()).map((number) => 2 * number)).toEqual(used);
    });

    test("of a project nothing stays but ids and counters", async () => {
      const team = await createTeam(stack());
      const api = await keyOf(stack(), team.owner);
      const before = await rowsOf(stack(), team.orgId);
      const run = await writeEverything(api, "canary-project");
      const projectId = (await api.get(`/runs/${run.runId}`)).json.run.project_id as string;
      await writeVersion(api, run.runId, "canary-version");
      const self = await writeEverything(api, "canary-project");
      expect((await api.post("/api/reports", { title: "canary-report", project_id: projectId })).status).toBe(200);
      const view = { name: "canary-view", project: "canary-project", payload: { schema_version: 1 } };
      const saved = await team.owner.browser.post("/api/workspace-views", view);
      expect([saved.status, saved.text]).toEqual([200, expect.anything()]);
      const imported = await importChunk(
        api,
        { runs: [{ source_run_id: "canary-source", name: "canary-import" }] },
        { project: "canary-project", sourceProject: "canary/source" },
      );
      expect([imported.status, imported.text]).toEqual([200, expect.anything()]);
      expect((await tablesWith(stack(), "canary-")).length).toBeGreaterThan(5);
      expect(await bytesOf(stack(), team.orgId)).not.toEqual([]);

      // A run that was deleted before its project is removed with it.
      expect((await api.call("DELETE", `/runs/${self.runId}`)).status).toBe(200);
      expect((await team.owner.browser.call("DELETE", `/projects/${projectId}`)).status).toBe(200);
      await until("the runs to follow", async () => {
        const rows = await queryDatabase(stack(), "SELECT FROM runs.projects WHERE id = $1 AND NOT unsettled", [
          projectId,
        ]);
        return rows.length === 1;
      });
      await letTimePass(stack(), "runs.projects", projectId);
      await untilRemoved(stack(), projectId);

      const left = await rowsOf(stack(), team.orgId);
      // Requests of the month are counted some time after they were answered.
      const more = Object.keys(left).filter((name) => left[name] !== before[name] && name !== "usage.month_requests");
      expect(more.filter((name) => !MAY_NAME.includes(name))).toEqual([
        "artifacts.storage",
        "imports.counters",
        "imports.staged",
        "ingest.rank_points",
        "platform.stored_bytes",
        "reports.report_counts",
        "reports.view_counts",
        "runs.project_numbers",
        "traces.event_counts",
      ]);
      expect((await tablesWith(stack(), "canary-")).filter((name) => !name.includes("idempotency"))).toEqual([]);
      expect(await bytesOf(stack(), team.orgId)).toEqual([]);
      const [storage] = await queryDatabase<Record<string, string>>(
        stack(),
        `SELECT sum(artifact_bytes) AS a, sum(version_bytes) AS v, sum(pending_delete_bytes) AS p, sum(reserved_bytes) AS r, sum(artifacts) AS n,
                sum(collections) AS c, sum(versions_active) AS va, sum(versions_pending_delete) AS vp, sum(unknown_sizes) AS u
         FROM artifacts.storage WHERE org_id = $1`,
        [team.orgId],
      );
      expect(new Set(Object.values(storage!))).toEqual(new Set(["0"]));
      const counted = await queryDatabase<{ kind: string }>(
        stack(),
        "SELECT kind FROM platform.stored_bytes WHERE org_id = $1 GROUP BY kind HAVING sum(bytes) <> 0",
        [team.orgId],
      );
      expect(counted).toEqual([]);
    });
  },
  quick,
);
