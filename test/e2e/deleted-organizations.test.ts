import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { until } from "@tidemark/testkit";
import { importChunk } from "../stack/imports.ts";
import { describeModes } from "../stack/modes.ts";
import { quick } from "../stack/settings.ts";
import { asOperator, createTeam, signIn, type Team } from "../stack/people.ts";
import { writeEverything, writeVersion } from "./archive.fixture.ts";
import { bytesOf, keyOf, letTimePass, rowsOf, tablesWith, untilRemoved } from "./removal.fixture.ts";

// One file, because all cases share a stack in each mode.

const DAY_MS = 86_400_000;
const pathOf = ({ orgId }: Team) => `/api/orgs/${orgId}`;

describeModes(
  "a deleted organization",
  (stack) => {
    test("is closed to its keys and sessions, and is as it was when it is restored", async () => {
      const team = await createTeam(stack());
      const member = await team.join("member");
      const api = await keyOf(stack(), team.owner);
      const run = (await api.post("/runs", { project: "p" })).json.run;
      const { browser } = team.owner;
      const deleted = await browser.call("DELETE", pathOf(team));
      expect([deleted.status, deleted.json.organization.id]).toEqual([200, team.orgId]);
      const { deleted_at: at, purge_after: end } = deleted.json.organization;
      expect(Date.parse(end) - Date.parse(at)).toBe(30 * DAY_MS);
      expect((await browser.call("DELETE", pathOf(team))).json).toEqual(deleted.json);
      expect((await browser.call("DELETE", `${pathOf(team)}?dry_run=true`)).status).toBe(404);

      for (const path of ["/runs", "/projects", "/api/usage", `/runs/${run.id}`, `/api/runs/${run.id}/stop-signal`])
        expect([path, (await api.get(path)).status]).toEqual([path, 401]);
      expect((await api.post("/runs", {})).status).toBe(401);
      for (const { browser: theirs } of [team.owner, member]) {
        expect((await theirs.get("/runs")).status).toBe(401);
        expect((await theirs.post("/api/reports", { title: "t" })).status).toBe(401);
      }
      expect((await browser.get(`${pathOf(team)}/seats`)).status).toBe(401);
      expect((await stack().api.get("/api/orgs?limit=1000", asOperator(stack()))).text).not.toContain(team.orgId);

      const { memberships } = (await browser.get("/api/orgs/memberships?deleted=true")).json;
      expect(memberships).toEqual([
        expect.objectContaining({ org_id: team.orgId, role: "owner", deleted_at: at, purge_after: end }),
      ]);
      expect((await browser.get("/api/orgs/memberships")).json.memberships).toEqual([]);
      expect((await member.browser.get("/api/orgs/memberships?deleted=true")).status).toBe(403);
      expect((await browser.get("/api/orgs/memberships?deleted=1")).status).toBe(400);
      expect((await member.browser.post(`${pathOf(team)}/restore`, {})).status).toBe(403);

      const restored = await browser.post(`${pathOf(team)}/restore`, {});
      expect([restored.status, restored.json.organization]).toEqual([
        200,
        expect.objectContaining({ id: team.orgId, deleted_at: null, purge_after: null }),
      ]);
      await until("every gateway to know", async () => (await api.get(`/runs/${run.id}`)).status === 200);
      expect((await browser.get("/runs")).json.runs).toHaveLength(1);
      expect((await browser.post(`${pathOf(team)}/restore`, {})).json).toEqual(restored.json);
      const { events } = (await browser.get(`${pathOf(team)}/audit?limit=2`)).json;
      expect(events.map(({ action }: { action: string }) => action)).toEqual([
        "organization.restored",
        "organization.deleted",
      ]);
    });

    test("lets its people go elsewhere, and they restore it from there", async () => {
      const team = await createTeam(stack());
      const admin = await team.join("admin");
      const elsewhere = (await admin.browser.get("/api/orgs/memberships")).json.memberships.find(
        ({ org_id: id }: { org_id: string }) => id !== team.orgId,
      ).org_id as string;
      expect((await admin.browser.call("DELETE", pathOf(team))).status).toBe(200);
      const moved = await admin.browser.post("/api/auth/switch-organization", { org_id: elsewhere });
      expect([moved.status, (await admin.browser.get("/runs")).status]).toEqual([200, 200]);
      expect((await admin.browser.post("/api/auth/switch-organization", { org_id: team.orgId })).status).toBe(403);
      const stranger = await signIn(stack());
      expect((await stranger.browser.post(`${pathOf(team)}/restore`, {})).status).toBe(404);
      expect((await admin.browser.post(`${pathOf(team)}/restore`, {})).status).toBe(200);
      expect((await admin.browser.post("/api/auth/switch-organization", { org_id: team.orgId })).status).toBe(200);
    });

    test("is deleted and restored by those who may: operators, owners and admins", async () => {
      const team = await createTeam(stack());
      const api = await keyOf(stack(), team.owner);
      const [member, viewer, stranger] = [await team.join("member"), await team.join("viewer"), await signIn(stack())];
      for (const { browser } of [member, viewer]) {
        expect((await browser.call("DELETE", pathOf(team))).status).toBe(403);
        expect((await browser.post(`${pathOf(team)}/restore`, {})).status).toBe(403);
      }
      expect((await stranger.browser.call("DELETE", pathOf(team))).status).toBe(404);
      for (const [method, path] of [
        ["DELETE", pathOf(team)],
        ["POST", `${pathOf(team)}/restore`],
      ] as const) {
        expect((await api.call(method, path)).status).toBe(401);
        expect((await stack().api.call(method, path, { key: null })).status).toBe(401);
      }
      const operator = asOperator(stack());
      for (const id of [randomUUID(), "x"]) {
        expect((await stack().api.call("DELETE", `/api/orgs/${id}`, operator)).status).toBe(404);
        expect((await stack().api.call("POST", `/api/orgs/${id}/restore`, operator)).status).toBe(404);
      }
      const deleted = await stack().api.call("DELETE", pathOf(team), operator);
      expect(deleted.status).toBe(200);
      expect((await stack().api.call("DELETE", pathOf(team), operator)).json).toEqual(deleted.json);
      expect((await api.get("/runs")).status).toBe(401);
      expect((await stack().api.call("POST", `${pathOf(team)}/restore`, operator)).status).toBe(200);
      await until("the key to work", async () => (await api.get("/runs")).status === 200);
    });

    test("closes public reports", async () => {
      const team = await createTeam(stack());
      const { browser } = team.owner;
      const { id } = (await browser.post("/api/reports", { title: "t", visibility: "public" })).json.report;
      const { share_token: token } = (await browser.post(`/api/reports/${id}/share`, {})).json.report;
      const shared = () => stack().api.get(`/api/reports/share/${token}`, { key: null });
      const open = () => stack().api.get(`/api/reports/${id}`, { key: null });
      expect([(await open()).status, (await shared()).status]).toEqual([200, 200]);
      await browser.call("DELETE", pathOf(team));
      expect([(await open()).status, (await shared()).status]).not.toContain(200);
      await browser.post(`${pathOf(team)}/restore`, {});
      expect([(await open()).status, (await shared()).status]).toEqual([200, 200]);
    });

    test("keeps its short name, shows beforehand what would be removed, and leaves nothing when its time is over", async () => {
      const team = await createTeam(stack());
      const api = await keyOf(stack(), team.owner);
      const run = await writeEverything(api, "leftover-project");
      await writeVersion(api, run.runId, "leftover-version");
      expect((await api.post("/api/reports", { title: "leftover-report" })).status).toBe(200);
      const imported = { runs: [{ source_run_id: "leftover-source", name: "leftover-import" }] };
      expect((await importChunk(api, imported, { project: "leftover-other" })).status).toBe(200);
      expect(
        (
          await team.owner.browser.post(`${pathOf(team)}/invitations`, {
            email: "leftover-guest@example.test",
            role: "viewer",
          })
        ).status,
      ).toBe(200);
      const dry = await team.owner.browser.call("DELETE", `${pathOf(team)}?dry_run=true`);
      expect([dry.status, dry.json.counts]).toEqual([
        200,
        expect.objectContaining({ runs: 2, lines: 2, attributes: 3, artifacts: 2, traces: 1 }),
      ]);
      const asked = await stack().api.call("DELETE", `${pathOf(team)}?dry_run=true`, asOperator(stack()));
      expect([asked.status, asked.json]).toEqual([200, dry.json]);
      expect((await team.owner.browser.call("DELETE", `${pathOf(team)}?dry_run=yes`)).status).toBe(400);
      expect(Object.keys(await rowsOf(stack(), team.orgId)).length).toBeGreaterThan(35);

      expect((await team.owner.browser.call("DELETE", pathOf(team))).status).toBe(200);
      await letTimePass(stack(), "control.organizations", team.orgId);
      await untilRemoved(stack(), team.orgId);
      const left = Object.keys(await rowsOf(stack(), team.orgId));
      expect(left.filter((name) => !name.includes("idempotency") && name !== "usage.month_requests")).toEqual([
        "control.organizations",
        "runs.run_ids",
      ]);
      expect((await tablesWith(stack(), "leftover-")).filter((name) => !name.includes("idempotency"))).toEqual([]);
      expect(await bytesOf(stack(), team.orgId)).toEqual([]);
      const operator = asOperator(stack());
      expect((await stack().api.call("POST", `${pathOf(team)}/restore`, operator)).status).toBe(404);
      expect((await stack().api.post("/api/orgs", { slug: team.name, name: "n" }, operator)).status).toBe(409);
      expect((await team.owner.browser.get("/api/orgs/memberships?deleted=true")).status).toBe(401);
      expect((await api.get("/runs")).status).toBe(401);
    });
  },
  quick,
);
