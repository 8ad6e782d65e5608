import { query } from "../../../api/queries.ts";
import { useAnswer } from "../../../api/use-answer.ts";
import type { Collection, VersionLineage } from "./artifact-types.ts";

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
