import { useEffect, useState } from "preact/hooks";
import { query } from "../../../api/queries.ts";
import type { Collection, VersionLineage } from "./artifact-types.ts";

/** Collections that are looked at: each costs a request. */
const COLLECTIONS_MAX = 24;
/** Requests at a time. */
const PARALLEL = 4;

type Found = { readonly data: readonly VersionLineage[]; readonly error: unknown; readonly isLoading: boolean };

/** Reads what made and what used the latest versions of collections, those changed last first. */
export function useArtifactLineage(collections: readonly Collection[] | undefined): Found {
  const [found, setFound] = useState<Found>({ data: [], error: undefined, isLoading: true });
  const ids = (collections ?? []).slice(0, COLLECTIONS_MAX).flatMap(({ latest_version: version }) => version?.id ?? []);
  const key = collections === undefined ? undefined : ids.join(" ");
  useEffect(() => {
    if (key === undefined) return undefined;
    const ending = new AbortController();
    const read = async (): Promise<void> => {
      const data: VersionLineage[] = [];
      try {
        for (let i = 0; i < ids.length; i += PARALLEL) {
          const some = ids.slice(i, i + PARALLEL);
          data.push(
            ...(await Promise.all(
              some.map((id) =>
                query<VersionLineage>(`/api/artifact-versions/${id}/lineage`, { signal: ending.signal }),
              ),
            )),
          );
        }
        setFound({ data, error: undefined, isLoading: false });
      } catch (error) {
        if (!ending.signal.aborted) setFound({ data, error, isLoading: false });
      }
    };
    void read();
    return () => ending.abort();
  }, [key]);
  return found;
}
