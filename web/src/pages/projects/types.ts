/** A project as its list gives it. */
export type Project = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly created_at: string;
};

/** A run of the summary, as far as the list of active ones shows it. */
export type ActiveRun = {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly status: string;
  readonly display_status?: string;
  readonly stale?: boolean;
  readonly started_at: string;
};

/** Figures of a project. */
export type Overview = { readonly total_runs: number; readonly active_runs: number; readonly failed_runs: number };
