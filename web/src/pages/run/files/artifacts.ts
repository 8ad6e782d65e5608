import { useState } from "preact/hooks";
import { query } from "../../../api/queries.ts";
import { useAnswer } from "../../../api/use-answer.ts";

/** A file of a run. */
export type Artifact = {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly uri: string;
  readonly step: number | null;
  readonly size_bytes: number | null;
  readonly sha256: string | null;
  readonly mime_type: string;
  readonly storage_backend: string;
  readonly created_at: string;
};

/** A version of a collection. */
export type Version = {
  readonly id: string;
  readonly collection_id: string;
  readonly name: string;
  readonly type: string;
  readonly version: string;
  readonly aliases: readonly string[];
  readonly digest: string;
  readonly source_run_id: string;
  readonly source_step: number | null;
  readonly file_count: number;
  readonly size_bytes: number;
  readonly created_at: string;
};

/** A collection of versions. */
export type Collection = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly versions_count: number;
  readonly latest_version: Version | null;
  readonly updated_at: string;
};

/** A file of a version. */
export type Entry = {
  readonly id: string;
  readonly path: string;
  readonly kind: string;
  readonly size_bytes: number | null;
  readonly sha256: string | null;
  readonly mime_type: string | null;
  readonly reference_uri: string | null;
  readonly downloadable: boolean;
};

/** The producer and the users of a version. */
export type VersionLineage = {
  readonly nodes: readonly {
    readonly id: string;
    readonly kind: "run" | "artifact_version";
    readonly label: string;
    readonly state: string;
  }[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly direction: "input" | "output" }[];
  readonly truncated: boolean;
};

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
