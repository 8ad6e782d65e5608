/** A run as the statements of this folder return it. Instants are RFC 3339 texts. */
export type RunRow = {
  readonly id: string;
  readonly org_id: string;
  readonly project_id: string;
  readonly project: string;
  readonly name: string;
  readonly status: string;
  readonly display_status: string;
  readonly config: string;
  readonly tags: string[];
  readonly metadata: string;
  readonly created_at: string;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly parent_run_id: string | null;
  readonly forked_from_step: number | null;
  readonly forked_from_artifact_id: string | null;
  readonly resume_count: number;
  readonly resumed_at: string | null;
  /** JSON, see `LifecycleRow`. */
  readonly lifecycle: string;
  readonly create_fingerprint: Uint8Array | null;
  readonly stop_state: string;
  readonly stop_request_id: string | null;
  readonly stop_reason: string | null;
  readonly stop_completion_message: string | null;
  readonly stop_actor: string | null;
  readonly stop_requested_at: string | null;
  readonly stop_acknowledged_at: string | null;
  readonly stop_completed_at: string | null;
  readonly stop_updated_at: string | null;
};

/** One entry of the column `lifecycle`. */
export type LifecycleRow = {
  readonly status_from: string;
  readonly status_to: string;
  readonly at: string;
  readonly kind: string;
};

/** Select list of a `RunRow`, over `runs.runs r` and its project `p`. */
export const runColumns = `
  r.id, r.org_id, r.project_id, p.name AS project, r.name, r.status, r.display_status, r.config, r.tags, r.metadata,
  r.created_at, r.started_at, r.finished_at, r.parent_run_id, r.forked_from_step, r.forked_from_artifact_id,
  r.resume_count, r.resumed_at, r.lifecycle, r.create_fingerprint, r.stop_state, r.stop_request_id, r.stop_reason,
  r.stop_completion_message, r.stop_actor, r.stop_requested_at, r.stop_acknowledged_at, r.stop_completed_at,
  r.stop_updated_at`;
