import { useEffect, useState } from "preact/hooks";
import { query } from "../../../api/queries.ts";
import type { Artifact } from "./artifact-types.ts";

type Page = { readonly artifacts: readonly Artifact[]; readonly next_cursor: string | null };

/** The artifacts of a run, newest first, as many pages of a thousand as were asked for. */
export type Artifacts = {
  /** Undefined until the first page is there. */
  readonly artifacts: readonly Artifact[] | undefined;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly more: () => void;
  readonly reload: () => void;
};

/** Reads the artifacts of a run, and reads them again when `version` grows. */
export function useArtifacts(runId: string, version: number): Artifacts {
  const [state, setState] = useState<{ readonly rows: readonly Artifact[]; readonly hasMore: boolean }>();
  const [error, setError] = useState<unknown>();
  const [pages, setPages] = useState(1);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const ending = new AbortController();
    const read = async (): Promise<void> => {
      const rows: Artifact[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < pages; page += 1) {
        const parameters = `limit=1000${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
        const answer: Page = await query<Page>(`/api/runs/${runId}/artifacts?${parameters}`, { signal: ending.signal });
        rows.push(...answer.artifacts);
        cursor = answer.next_cursor;
        if (cursor === null) break;
      }
      setState({ rows, hasMore: cursor !== null });
      setError(undefined);
    };
    read().catch((fault: unknown) => {
      if (!ending.signal.aborted) setError(fault);
    });
    return () => ending.abort();
  }, [runId, version, pages, attempt]);
  return {
    artifacts: state?.rows,
    error,
    hasMore: state?.hasMore ?? false,
    more: () => setPages((count) => count + 1),
    reload: () => setAttempt((count) => count + 1),
  };
}
