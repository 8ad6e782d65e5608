import { useState } from "preact/hooks";
import { query } from "../../../api/queries.ts";
import { useAnswer } from "../../../api/use-answer.ts";
import type { Artifact, Collection, VersionLineage } from "./artifact-types.ts";

type Page = { readonly artifacts: readonly Artifact[]; readonly next_cursor: string | null };

/** The artifacts of a run, newest first, as many pages of a thousand as were asked for. */
type Artifacts = {
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

/** Collections that are looked at: each costs a request. */
const COLLECTIONS_MAX = 24;
/** Requests at a time. */
const PARALLEL = 4;

type Lineages = { readonly data: readonly VersionLineage[]; readonly error: unknown; readonly isLoading: boolean };

/** Reads what made and what used the latest versions of collections, those changed last first. After an error those before it are shown. */
export function useArtifactLineage(collections: readonly Collection[] | undefined): Lineages {
  const ids = (collections ?? []).slice(0, COLLECTIONS_MAX).flatMap(({ latest_version: version }) => version?.id ?? []);
  const { data, isLoading } = useAnswer(collections && ids.join(" "), async (signal) => {
    const lineages: VersionLineage[] = [];
    const read = (id: string): Promise<VersionLineage> =>
      query<VersionLineage>(`/api/artifact-versions/${id}/lineage`, { signal });
    try {
      for (let i = 0; i < ids.length; i += PARALLEL)
        lineages.push(...(await Promise.all(ids.slice(i, i + PARALLEL).map(read))));
    } catch (error) {
      return { lineages, error };
    }
    return { lineages, error: undefined };
  });
  return { data: data?.lineages ?? [], error: data?.error, isLoading: collections === undefined || isLoading };
}
