import { createHash, randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import type { Answer, Api } from "../stack/client.ts";
import { createImport, type TestJob } from "../stack/imports.ts";
import { describeModes } from "../stack/modes.ts";
import { asOperator, createTeam, inviteTokenIn, newEmail, signIn, type Person, type Team } from "../stack/people.ts";
import { queryDatabase } from "../stack/attach.ts";
import type { Stack } from "../stack/stack.ts";
import { startedSpan } from "../stack/started-span.ts";

const SCOPES = ["sdk:ingest", "artifacts:write", "artifacts:manage", "imports:write", "export:read", "runs:control"];
const STATES = ["checkout_pending", "read_only_payment_required", "canceled"];

/** An organization with one of everything that a request refers to. */
type Scene = {
  readonly stack: Stack;
  readonly team: Team;
  readonly api: Api;
  readonly runId: string;
  readonly artifactId: string;
  /** A job that takes chunks, and one that can be committed. */
  readonly open: TestJob;
  readonly staged: TestJob;
  /** An archive whose bytes are not sent yet. */
  readonly archive: { readonly id: string; readonly sha256: string };
  /** An upload whose bytes are in `complete`. */
  readonly upload: { readonly id: string; readonly entryId: string };
  readonly viewId: string;
  readonly exportedView: unknown;
  readonly invitationId: string;
  readonly guest: Person;
  readonly inviteToken: string;
  /** An address that was invited and never signed in, with its token. */
  readonly newcomer: { readonly email: string; readonly token: string };
  readonly userCode: string;
};

const fine = (answer: Answer): Answer => {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
};
const BYTES = Buffer.from("weights");
const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const content = { name: "a.bin", content_base64: BYTES.toString("base64") };
const uploadOf = (name: string) => ({
  collection: { name, type: "model" },
  manifest: { entries: [{ path: "w.bin", size_bytes: BYTES.length, sha256: sha256Of(BYTES) }] },
});
const chunk = { runs: [{ source_run_id: "a" }] };
const wandb = { project: "p", runs: [{ id: "w", history: [{ loss: 1 }] }] };
const spans = () => ({ events: [startedSpan(1, { trace_id: randomUUID().replaceAll("-", "") })] });
const keyed = () => ({ headers: { "idempotency-key": randomUUID() } });
const restore = (api: Api, rawBody: string) =>
  api.post("/api/imports/archive", undefined, { rawBody, headers: { "content-type": "application/x-ndjson" } });
const putBytes = ({ api, archive }: Scene) =>
  api.call("PUT", `/api/imports/archive/${archive.id}/bytes/${archive.sha256}`, {
    rawBody: BYTES,
    headers: { "content-type": "application/octet-stream" },
  });

async function prepare(stack: Stack): Promise<Scene> {
  const team = await createTeam(stack);
  const { browser } = team.owner;
  const made = await stack.api.post(`/api/orgs/${team.orgId}/api-keys`, { scopes: SCOPES }, asOperator(stack));
  const api = stack.api.as(fine(made).json.api_key);
  const runId = fine(await api.post("/runs", { project: "p" })).json.run.id;
  const artifactId = fine(await api.post(`/api/runs/${runId}/artifacts/upload`, content)).json.artifact.id;
  const { text } = fine(await api.get("/api/export?format=ndjson&project=p"));
  const restored = fine(await restore(api, text)).json;
  const [open, staged] = [await createImport(api), await createImport(api)];
  fine(await staged.put(chunk, { final: true }));
  const begun = fine(await api.post(`/api/runs/${runId}/artifact-uploads`, uploadOf("begun"))).json;
  const view = fine(await browser.post("/api/workspace-views", { name: "Daily" })).json.workspace_view;
  const invite = async (email: string) =>
    fine(await browser.post(`/api/orgs/${team.orgId}/invitations`, { email, role: "member" }));
  const [guest, newcomer] = [await signIn(stack), newEmail()];
  const [inviteToken, newcomerToken] = [
    inviteTokenIn(await invite(guest.email)),
    inviteTokenIn(await invite(newcomer)),
  ];
  const invitationId = (await invite(newEmail())).json.invitation.id;
  // It may be sent again after a while.
  await queryDatabase(stack, "UPDATE control.invitations SET last_sent_at = last_sent_at - interval '1 day'");
  const device = fine(await stack.api.post("/api/auth/device-code/start", {})).json;
  return {
    stack,
    team,
    api,
    runId,
    artifactId,
    open,
    staged,
    archive: { id: restored.archive_id, sha256: restored.missing_bytes[0] },
    upload: { id: begun.upload_session.id, entryId: begun.files[0].entry_id },
    viewId: view.id,
    exportedView: fine(await browser.get(`/api/workspace-views/${view.id}/export`)).json,
    invitationId,
    guest,
    inviteToken,
    newcomer: { email: newcomer, token: newcomerToken },
    userCode: device.user_code,
  };
}

/** Requests that create something; each is valid otherwise. */
const writes: readonly [what: string, (scene: Scene) => Promise<Answer>][] = [
  ["POST /projects", ({ api }) => api.post("/projects", { name: randomUUID() })],
  ["POST /runs", ({ api }) => api.post("/runs", { project: "p" })],
  ["PATCH /runs/{run_id}", ({ api, runId }) => api.patch(`/runs/${runId}`, { tags: ["a"] })],
  ["POST /api/runs/bulk-update", ({ api }) => api.post("/api/runs/bulk-update", { filter: {}, set: { notes: "n" } })],
  ["POST /api/runs/move", ({ api }) => api.post("/api/runs/move", { filter: {}, project: "q" })],
  ["POST /api/runs/copy", ({ api }) => api.post("/api/runs/copy", { filter: {}, project: "q" })],
  ["PUT …/readme", ({ api, runId }) => api.call("PUT", `/api/runs/${runId}/readme`, { body: { markdown: "# a" } })],
  ["POST …/forks", ({ api, runId }) => api.post(`/api/runs/${runId}/forks`, {})],
  ["POST …/metrics", ({ api, runId }) => api.post(`/runs/${runId}/metrics`, { step: 0, metrics: { loss: 1 } })],
  [
    "POST …/metrics/batch",
    ({ api, runId }) => api.post(`/runs/${runId}/metrics/batch`, { points: [{ step: 0, metrics: { loss: 1 } }] }),
  ],
  [
    "POST …/rank-metrics",
    ({ api, runId }) =>
      api.post(`/runs/${runId}/rank-metrics`, { step: 0, metrics: { loss: 1 }, rank: 0, world_size: 1 }),
  ],
  ["POST …/traces/events", ({ api, runId }) => api.post(`/api/runs/${runId}/traces/events`, spans(), keyed())],
  [
    "POST …/objects",
    ({ api, runId }) => api.post(`/api/runs/${runId}/objects`, { key: "t", kind: "table", rows: [{ a: 1 }] }),
  ],
  [
    "POST …/artifacts",
    ({ api, runId }) => api.post(`/api/runs/${runId}/artifacts`, { name: "far", uri: "s3://b/far" }),
  ],
  ["POST …/artifacts/upload", ({ api, runId }) => api.post(`/api/runs/${runId}/artifacts/upload`, content)],
  [
    "POST …/artifact-uploads",
    ({ api, runId }) => api.post(`/api/runs/${runId}/artifact-uploads`, uploadOf(randomUUID())),
  ],
  [
    "POST /api/imports/jobs",
    ({ api }) => api.post("/api/imports/jobs", { source_type: "wandb", target_project: "imported" }),
  ],
  ["POST …/chunks", ({ open }) => open.put(chunk)],
  ["POST …/commit", ({ staged }) => staged.commit()],
  ["POST /api/imports/wandb", ({ api }) => api.post("/api/imports/wandb", wandb)],
  [
    "POST /api/imports/archive",
    async ({ api }) => restore(api, (await api.get("/api/export?format=ndjson&project=p")).text),
  ],
  ["PUT …/bytes/{sha256}", putBytes],
  ["POST …/api-keys", ({ team }) => team.owner.browser.post(`/api/orgs/${team.orgId}/api-keys`, { name: "k" })],
  [
    "POST …/api-keys by the operator",
    ({ team, stack }) => stack.api.post(`/api/orgs/${team.orgId}/api-keys`, { name: "k" }, asOperator(stack)),
  ],
  ["POST …/seats", ({ team }) => team.owner.browser.post(`/api/orgs/${team.orgId}/seats`, { email: newEmail() })],
  [
    "POST …/invitations",
    ({ team }) => team.owner.browser.post(`/api/orgs/${team.orgId}/invitations`, { email: newEmail(), role: "viewer" }),
  ],
  [
    "POST …/resend",
    ({ team, invitationId }) =>
      team.owner.browser.post(`/api/orgs/${team.orgId}/invitations/${invitationId}/resend`, {}),
  ],
  [
    "POST /api/invitations/accept",
    ({ guest, inviteToken }) => guest.browser.post("/api/invitations/accept", { token: inviteToken }),
  ],
  [
    "POST /api/auth/dev/google with an invitation",
    ({ stack, newcomer }) =>
      stack.api.post(
        "/api/auth/dev/google",
        { email: newcomer.email, accept_invite_token: newcomer.token },
        { headers: { origin: stack.baseUrl } },
      ),
  ],
  [
    "POST /api/auth/device-code/confirm",
    ({ team, userCode }) => team.owner.browser.post("/api/auth/device-code/confirm", { user_code: userCode }),
  ],
  [
    "PUT /api/dashboard/preferences",
    ({ team }) => team.owner.browser.call("PUT", "/api/dashboard/preferences", { body: { selected_project: "p" } }),
  ],
  ["POST /api/workspace-views", ({ team }) => team.owner.browser.post("/api/workspace-views", { name: randomUUID() })],
  [
    "PUT /api/workspace-views/{view_id}",
    ({ team, viewId }) =>
      team.owner.browser.call("PUT", `/api/workspace-views/${viewId}`, { body: { name: "Weekly" } }),
  ],
  [
    "POST /api/workspace-views/import",
    ({ team, exportedView }) =>
      team.owner.browser.post("/api/workspace-views/import", {
        exported_view: exportedView,
        dry_run: false,
        name: randomUUID(),
      }),
  ],
];

/** Requests that a billing state never blocks. */
const others: readonly [what: string, (scene: Scene) => Promise<Answer>][] = [
  ["a run is read", ({ api, runId }) => api.get(`/runs/${runId}`)],
  ...["/runs", "/api/runs/summary", "/api/usage", "/api/imports"].map((path): (typeof writes)[number] => [
    `GET ${path}`,
    ({ api }) => api.get(path),
  ]),
  ...["/runs/:run/metrics", "/api/runs/:run/logs", "/api/runs/:run/artifacts", "/api/traces?run_id=:run"].map(
    (path): (typeof writes)[number] => [`GET ${path}`, ({ api, runId }) => api.get(path.replace(":run", runId))],
  ),
  ["a file is downloaded", ({ api, artifactId }) => api.get(`/api/artifacts/${artifactId}/download`)],
  ["a project is exported", ({ api }) => api.get("/api/export?format=ndjson&project=p")],
  ["an import is read", ({ api, open }) => api.get(open.path)],
  ["preferences are read", ({ team }) => team.owner.browser.get("/api/dashboard/preferences")],
  ["keys are listed", ({ team }) => team.owner.browser.get(`/api/orgs/${team.orgId}/api-keys`)],
  [
    "a view is tried",
    ({ team, exportedView }) =>
      team.owner.browser.post("/api/workspace-views/import", {
        exported_view: exportedView,
        dry_run: true,
        name: randomUUID(),
      }),
  ],
  ["a document is tried", ({ api }) => api.post("/api/imports/wandb?dry_run=true", wandb)],
  ["runs are stopped", ({ api, runId }) => api.post("/api/runs/stop", { run_ids: [runId] })],
  [
    "a stop is acknowledged",
    async ({ api, runId }) => {
      const { run_control: control } = fine(await api.post(`/api/runs/${runId}/stop`, {})).json;
      const body = { stop_request_id: control.stop_request_id, state: "acknowledged" };
      return api.post(`/api/runs/${runId}/stop-ack`, body);
    },
  ],
  ["a signal is read", ({ api, runId }) => api.get(`/api/runs/${runId}/stop-signal`)],
];

describeModes("while a payment is due", (stack) => {
  let scene: Promise<Scene> | undefined;
  const sceneIn = async (billingState: string): Promise<Scene> => {
    const prepared = await (scene ??= prepare(stack()));
    const { orgId } = prepared.team;
    fine(await stack().api.patch(`/api/orgs/${orgId}`, { billing_state: billingState }, asOperator(stack())));
    return prepared;
  };

  describe.each(STATES)("(%s)", (state) => {
    test.each(writes)("402: %s", async (_what, write) => {
      expect(await write(await sceneIn(state))).toMatchObject({
        status: 402,
        json: { code: "payment_required", error: expect.any(String) },
      });
    });

    test.each(others)("%s", async (_what, ask) => {
      expect([200, 206]).toContain((await ask(await sceneIn(state))).status);
    });
  });

  test("uploads that have begun can be completed and deleted", async () => {
    const { api, upload, artifactId } = await sceneIn("canceled");
    const files = [{ entry_id: upload.entryId, content_base64: content.content_base64 }];
    expect((await api.post(`/api/artifact-uploads/${upload.id}/complete`, { files })).status).toBe(200);
    expect((await api.call("DELETE", `/api/artifacts/${artifactId}`)).status).toBe(200);
  });

  describe("and in the time of grace", () => {
    test.each(writes)("200: %s", async (_what, write) => {
      const { status, text } = await write(await sceneIn("past_due_grace"));
      expect([status, text]).toEqual([200, expect.any(String)]);
    });
  });
});
