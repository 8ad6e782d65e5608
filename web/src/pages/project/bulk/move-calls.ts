import { call } from "../../../api/client.ts";
import { mayWrite, session } from "../../../api/session.ts";
import type { Progress } from "./bulk-calls.ts";

/** Runs by their ids, or those of a project that pass a search. */
export type MovedRuns = { readonly ids: readonly string[] } | { readonly projectId: string; readonly q: string };

/** What became of runs that were to be moved. */
export type Moved = { readonly ids: readonly string[]; readonly failed: number };

type Answer = {
  readonly updated: number;
  readonly failed: number;
  readonly results: readonly { readonly run_ids: readonly string[]; readonly ok: boolean; readonly error?: string }[];
};

/** Whether the signed-in one may move runs to other projects: a key of one project may not. */
export const mayMove = (): boolean => mayWrite() && (session.value?.session.metadata.project_id ?? null) === null;

/** Moves runs to a project, which is made when it is missing, and resumes a request whose time was up. @throws ApiError */
export async function moveRuns(runs: MovedRuns, project: string, progress: Progress): Promise<Moved> {
  const headers = { "idempotency-key": crypto.randomUUID() };
  const which =
    "ids" in runs
      ? { run_ids: runs.ids }
      : { filter: { project_id: runs.projectId, ...(runs.q.trim() === "" ? {} : { q: runs.q }) } };
  for (;;) {
    const answer = await call<Answer>("/api/runs/move", { body: { ...which, project }, headers });
    progress(answer.updated);
    if (answer.results.some(({ error }) => error === "not_reached")) continue;
    return { ids: answer.results.flatMap(({ run_ids: ids, ok }) => (ok ? ids : [])), failed: answer.failed };
  }
}
