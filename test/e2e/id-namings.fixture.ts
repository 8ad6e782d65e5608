import { missing, type Ids } from "./deleted-ids.fixture.ts";

/** A request that names an id elsewhere than in its path. `other` are the ids of a run and a project that stay. */
export type Naming = {
  /** It changes nothing, and its answer differs when there is no such id. */
  readonly reads: boolean;
  /** The kind of id that it names. */
  readonly names: keyof Ids;
  readonly path: (ids: Ids, other: Ids) => string;
  readonly body?: (ids: Ids, other: Ids) => unknown;
};

const reads = (names: keyof Ids, path: Naming["path"], body?: Naming["body"]): Naming =>
  body === undefined ? { reads: true, names, path } : { reads: true, names, path, body };
const writes = (names: keyof Ids, path: Naming["path"], body: Naming["body"]): Naming => ({
  reads: false,
  names,
  path,
  body: body!,
});

const series = { key: "loss" };
const since = "from=2025-01-01T00:00:00Z";

/** Ids in queries and bodies, by method, path and name. */
export const namings: Readonly<Record<string, Naming>> = {
  "GET /runs project_id": reads("project_id", (ids) => `/runs?project_id=${ids.project_id}`),
  "GET /api/runs/summary project_id": reads("project_id", (ids) => `/api/runs/summary?project_id=${ids.project_id}`),
  "GET /api/overview project_id": reads("project_id", (ids) => `/api/overview?project_id=${ids.project_id}`),
  "GET /api/objects/explorer project_id": reads(
    "project_id",
    (ids) => `/api/objects/explorer?project_id=${ids.project_id}`,
  ),
  "GET /api/objects/explorer run_id": reads("run_id", (ids) => `/api/objects/explorer?run_id=${ids.run_id}`),
  "GET /api/objects/keys run_ids": reads("run_id", (ids) => `/api/objects/keys?run_ids=${ids.run_id}`),
  "POST /api/objects/at-step run_ids": reads(
    "run_id",
    () => "/api/objects/at-step",
    (ids) => ({ run_ids: [ids.run_id], keys: ["a"] }),
  ),
  "GET /api/artifact-collections project_id": reads(
    "project_id",
    (ids) => `/api/artifact-collections?project_id=${ids.project_id}`,
  ),
  "GET /api/traces run_ids": reads("run_id", (ids) => `/api/traces?${since}&run_ids=${ids.run_id}`),
  "GET /api/traces project_id": reads("project_id", (ids) => `/api/traces?${since}&project_id=${ids.project_id}`),
  "GET /api/traces run_id": reads(
    "run_id",
    (ids) => `/api/traces?${since}&project_id=${ids.project_id}&run_id=${ids.run_id}`,
  ),
  "GET /api/export project_id": reads("project_id", (ids) => `/api/export?project_id=${ids.project_id}`),
  "GET /api/export run_ids": reads("run_id", (ids) => `/api/export?run_ids=${ids.run_id}`),
  "GET /api/export runs": reads("run_id", (ids) => `/api/export?runs=${ids.run_id}`),
  "GET /api/projects/{project_id}/keys run_ids": reads(
    "run_id",
    (ids) => `/api/projects/${ids.project_id}/keys?run_ids=${ids.run_id}`,
  ),
  "GET /api/runs/side-by-side run_ids": reads(
    "run_id",
    (ids, other) => `/api/runs/side-by-side?run_ids=${ids.run_id},${other.run_id}`,
  ),
  "GET /api/runs/side-by-side runs": reads(
    "run_id",
    (ids, other) => `/api/runs/side-by-side?runs=${ids.run_id},${other.run_id}`,
  ),
  "GET /api/runs/side-by-side reference_run_id": reads(
    "run_id",
    (ids, other) => `/api/runs/side-by-side?run_ids=${other.run_id},${ids.run_id}&reference_run_id=${ids.run_id}`,
  ),
  "GET /api/artifact-versions/resolve ref": reads(
    "version_id",
    ({ project_id: id }) => `/api/artifact-versions/resolve?ref=${id === missing.project_id ? "q" : "p"}/model/policy`,
  ),
  "POST /api/runs/bulk-update run_ids": reads(
    "run_id",
    () => "/api/runs/bulk-update",
    (ids) => ({ run_ids: [ids.run_id], set: { notes: "n" }, dry_run: true }),
  ),
  "POST /api/runs/bulk-update project_id": reads(
    "project_id",
    () => "/api/runs/bulk-update",
    (ids) => ({ filter: { project_id: ids.project_id }, set: { notes: "n" }, dry_run: true }),
  ),
  "POST /api/runs/move run_ids": reads(
    "run_id",
    () => "/api/runs/move",
    (ids) => ({ run_ids: [ids.run_id], project: "p", dry_run: true }),
  ),
  "POST /api/runs/move project_id": reads(
    "project_id",
    () => "/api/runs/move",
    (ids) => ({ filter: { project_id: ids.project_id }, project: "p", dry_run: true }),
  ),
  "POST /api/runs/copy run_ids": reads(
    "run_id",
    () => "/api/runs/copy",
    (ids) => ({ run_ids: [ids.run_id], project: "p", dry_run: true }),
  ),
  "POST /api/runs/copy project_id": reads(
    "project_id",
    () => "/api/runs/copy",
    (ids) => ({ filter: { project_id: ids.project_id }, project: "p", dry_run: true }),
  ),
  "POST /api/runs/correlations run_ids": reads(
    "run_id",
    () => "/api/runs/correlations",
    (ids, other) => ({ metric: "loss", run_ids: [ids.run_id, other.run_id] }),
  ),
  "POST /api/runs/correlations project_id": reads(
    "project_id",
    () => "/api/runs/correlations",
    (ids) => ({ metric: "loss", filter: { project_id: ids.project_id } }),
  ),
  "POST /api/metrics/series run_ids": reads(
    "run_id",
    () => "/api/metrics/series",
    (ids) => ({ ...series, run_ids: [ids.run_id] }),
  ),
  "POST /api/metrics/groups run_ids": reads(
    "run_id",
    () => "/api/metrics/groups",
    (ids, other) => ({ run_ids: [ids.run_id, other.run_id], keys: ["loss"], by: ["config.half"] }),
  ),
  "POST /api/metrics/groups project_id": reads(
    "project_id",
    () => "/api/metrics/groups",
    (ids) => ({ filter: { project_id: ids.project_id }, keys: ["loss"], by: ["config.half"] }),
  ),
  "POST /api/workspace-view-data run_ids": reads(
    "run_id",
    () => "/api/workspace-view-data",
    (ids, other) => ({ view: { name: "v", payload: {} }, run_ids: [ids.run_id, other.run_id] }),
  ),
  "POST /api/runs/stop run_ids": writes(
    "run_id",
    () => "/api/runs/stop",
    (ids) => ({ run_ids: [ids.run_id] }),
  ),
  "POST /api/runs/{run_id}/forks checkpoint_artifact_id": writes(
    "artifact_id",
    (_ids, other) => `/api/runs/${other.run_id}/forks`,
    (ids) => ({ step: 1, checkpoint_artifact_id: ids.artifact_id }),
  ),
  "POST /api/runs/{run_id}/objects artifact_id": writes(
    "artifact_id",
    (_ids, other) => `/api/runs/${other.run_id}/objects`,
    (ids) => ({ key: "image", kind: "image", artifact_id: ids.artifact_id }),
  ),
  "POST /api/runs/{run_id}/artifact-inputs artifact_version_id": writes(
    "version_id",
    (_ids, other) => `/api/runs/${other.run_id}/artifact-inputs`,
    (ids) => ({ artifact_version_id: ids.version_id }),
  ),
  "POST /api/runs/{run_id}/artifact-inputs ref": writes(
    "version_id",
    (_ids, other) => `/api/runs/${other.run_id}/artifact-inputs`,
    ({ project_id: id }) => ({ ref: `${id === missing.project_id ? "q" : "p"}/model/policy` }),
  ),
  "PUT /api/artifact-collections/{collection_id}/aliases/{alias} artifact_version_id": writes(
    "version_id",
    (_ids, other) => `/api/artifact-collections/${other.collection_id}/aliases/a`,
    (ids) => ({ artifact_version_id: ids.version_id, confirm: "a", reason: "r" }),
  ),
  "POST /api/workspace-views/import existing_view_id": writes(
    "view_id",
    () => "/api/workspace-views/import",
    (ids) => ({ exported_view: {}, existing_view_id: ids.view_id, conflict_strategy: "replace" }),
  ),
  "POST /api/embed/sessions run_ids": writes(
    "run_id",
    () => "/api/embed/sessions",
    (ids) => ({ run_ids: [ids.run_id], allowed_parent_origin: "https://portal.test" }),
  ),
  "POST /api/orgs/{org_id}/api-keys project_id": writes(
    "project_id",
    () => "/api/orgs/{org_id}/api-keys",
    (ids) => ({ name: "k", project_id: ids.project_id }),
  ),
};

/** Names of ids that are of nothing in a run or a project, or that are part of what a client stores, anywhere or in one route. */
export const others: ReadonlySet<string> = new Set([
  // Of accounts.
  "org_id",
  "key_id",
  "service_account_id",
  "membership_id",
  "invitation_id",
  "owner_user_id",
  "created_by_user_id",
  "accept_invite_org_id",
  "accept_invite_token",
  "DELETE /api/auth/sessions/{session_id} session_id",
  "POST /api/auth/one-time token",
  "POST /api/auth/invitation token",
  "POST /api/invitations/preview token",
  "POST /api/invitations/accept token",
  // An embed session is of the API key that made it; its data leave deleted runs out.
  "GET /api/embed/sessions/{session_id}/current session_id",
  "GET /api/embed/sessions/{session_id}/frame-policy session_id",
  "GET /embed/runs/{session_id} session_id",
  "POST /api/embed/sessions/{session_id}/runs/data session_id",
  // Made by clients, and looked up within what the path names.
  "stop_request_id",
  "span_id",
  "parent_span_id",
  "event_id",
  "thread_id",
  "rollout_id",
  "chunk_id",
  "source_run_id",
  // The id of a new run; the id of a deleted one is never free.
  "POST /runs id",
  // The id is not looked up; a report of a deleted project is refused, as `deletion.test.ts` says.
  "POST /api/reports project_id",
  // Left out where it is not of the run.
  "POST /api/runs/{run_id}/attributes artifact_id",
  "POST /api/runs/{run_id}/objects id",
  "POST /api/runs/{run_id}/traces/events trace_id",
  "POST /api/artifact-uploads/{upload_session_id}/renew entry_id",
  "POST /api/artifact-uploads/{upload_session_id}/complete entry_id",
  "POST /api/imports/jobs/{import_id}/chunks job_id",
  // Texts of reports, views and imports that are stored as they are.
  "pinned_run_ids",
  "POST /api/reports run_ids",
  "PATCH /api/reports/{report_id} run_ids",
  "POST /api/imports/jobs/{import_id}/chunks runs",
  "POST /api/imports/wandb runs",
  "POST /api/imports/neptune runs",
  "POST /api/imports/mlflow runs",
]);
