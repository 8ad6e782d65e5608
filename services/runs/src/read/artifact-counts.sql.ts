/** How many artifacts of each type a run has. */
export type ArtifactCountsRow = {
  readonly checkpoint_artifacts: number;
  readonly rollout_artifacts: number;
  readonly file_artifacts: number;
};

/** The counts of a run without artifacts. */
export const NO_ARTIFACTS: ArtifactCountsRow = { checkpoint_artifacts: 0, rollout_artifacts: 0, file_artifacts: 0 };

/** Joins the counts of a run `r`: looked up by its key, even where PostgreSQL considers another plan quicker. */
export const artifactCountsOf = `LEFT JOIN LATERAL (
     SELECT o.checkpoints, o.rollouts, o.files FROM artifacts.run_counts_v1 o
     WHERE o.org_id = r.org_id AND o.run_id = r.id OFFSET 0) counts ON true`;

/** Select list of an `ArtifactCountsRow`. */
export const artifactCountColumns = `coalesce(counts.checkpoints, 0) AS checkpoint_artifacts,
  coalesce(counts.rollouts, 0) AS rollout_artifacts, coalesce(counts.files, 0) AS file_artifacts`;
