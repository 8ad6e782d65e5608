import { call } from "../../../api/client.ts";
import { mayWrite, session } from "../../../api/session.ts";
import type { Progress } from "./bulk-calls.ts";

/** What is done with runs and a project. */
export type Transfer = "move" | "copy";

/** Runs by their ids, or those of a project that pass a search. */
export type TransferredRuns = { readonly ids: readonly string[] } | { readonly projectId: string; readonly q: string };

/** What became of runs that were to be moved or copied: these ones were, or will be soon. */
export type Transferred = { readonly ids: readonly string[]; readonly failed: number };

type Answer = {
  readonly updated: number;
  readonly failed: number;
  readonly copying?: number;
  readonly results: readonly { readonly run_ids: readonly string[]; readonly ok: boolean; readonly error?: string }[];
};

/** Copies of many or large runs are looked at again after this time. */
const LOOK_EVERY_MS = 1000;

/** Whether the signed-in one may move and copy runs to other projects: a key of one project may not. */
export const mayTransfer = (): boolean => mayWrite() && (session.value?.session.metadata.project_id ?? null) === null;

/** Moves or copies runs to a project, which is made when it is missing, and resumes a request whose time was up. @throws ApiError */
export async function transferRuns(
  how: Transfer,
  runs: TransferredRuns,
  project: string,
  progress: Progress,
): Promise<Transferred> {
  const headers = { "idempotency-key": crypto.randomUUID() };
  const which =
    "ids" in runs
      ? { run_ids: runs.ids }
      : { filter: { project_id: runs.projectId, ...(runs.q.trim() === "" ? {} : { q: runs.q }) } };
  for (;;) {
    const answer = await call<Answer>(`/api/runs/${how}`, { body: { ...which, project }, headers });
    const { copying = 0 } = answer;
    progress(answer.updated - copying);
    if (answer.results.some(({ error }) => error === "not_reached")) continue;
    if (copying === 0) {
      return { ids: answer.results.flatMap(({ run_ids: ids, ok }) => (ok ? ids : [])), failed: answer.failed };
    }
    await new Promise((resolve) => {
      setTimeout(resolve, LOOK_EVERY_MS);
    });
  }
}
