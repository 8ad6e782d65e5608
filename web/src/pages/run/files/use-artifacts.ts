import { useState } from "preact/hooks";
import { query } from "../../../api/queries.ts";
import { useAnswer } from "../../../api/use-answer.ts";
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
  const [pages, setPages] = useState(1);
  const path = `/api/runs/${runId}/artifacts`;
  const read = async (signal: AbortSignal, again: boolean) => {
    const rows: Artifact[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < pages; page += 1) {
      const start: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const answer: Page = await query<Page>(`${path}?limit=1000${start}`, { signal, again });
      rows.push(...answer.artifacts);
      cursor = answer.next_cursor;
      if (cursor === null) break;
    }
    return { rows, hasMore: cursor !== null };
  };
  const { data, error, reload } = useAnswer(path, read, version + pages - 1);
  return {
    artifacts: data?.rows,
    error,
    hasMore: data?.hasMore ?? false,
    more: () => setPages((count) => count + 1),
    reload,
  };
}
