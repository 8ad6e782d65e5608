import { useState } from "preact/hooks";
import { query } from "../../../api/queries.ts";
import { useAnswer } from "../../../api/use-answer.ts";
import type { Version, VersionLineage } from "../../../artifacts/artifact-types.ts";

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

/** A version that a run made (`output`) or used (`input`). */
export type RunVersion = { readonly direction: "input" | "output"; readonly artifact_version: Version };

/** The most versions of a run that are listed, and how many a request reads. */
const VERSIONS_MAX = 1000;
const VERSIONS_PAGE = 200;

type RunVersions = {
  readonly versions: readonly RunVersion[] | undefined;
  readonly total: number;
  readonly error: unknown;
};

/** Reads the versions that a run made and used, by name, and reads them again when `version` grows. */
export function useRunVersions(runId: string, version: number): RunVersions {
  const path = `/api/runs/${runId}/artifact-versions?limit=${VERSIONS_PAGE}`;
  const read = async (signal: AbortSignal, again: boolean) => {
    const rows: RunVersion[] = [];
    for (;;) {
      const page = await query<{ artifact_versions: RunVersion[]; total: number }>(`${path}&offset=${rows.length}`, {
        signal,
        again,
      });
      rows.push(...page.artifact_versions);
      if (page.artifact_versions.length < VERSIONS_PAGE || rows.length >= VERSIONS_MAX)
        return { rows: rows.toSorted(byName), total: page.total };
    }
  };
  const { data, error } = useAnswer(path, read, version);
  return { versions: data?.rows, total: data?.total ?? 0, error };
}

const numbers = new Intl.Collator("en-US", { numeric: true });
const nameOf = ({ artifact_version: { name, version } }: RunVersion): string => `${name}:${version}`;
const byName = (a: RunVersion, b: RunVersion): number => numbers.compare(nameOf(a), nameOf(b));

/** Versions whose runs are looked up: each costs a request. */
const LINEAGES_MAX = 24;
/** Requests at a time. */
const PARALLEL = 4;

/** Reads which runs made and used the first of some versions, by their ids; a version that is not available has none. */
export function useVersionLineages(ids: readonly string[]): ReadonlyMap<string, VersionLineage> {
  const asked = ids.slice(0, LINEAGES_MAX);
  const { data } = useAnswer(asked.join(" "), async (signal) => {
    const lineages = new Map<string, VersionLineage>();
    const read = (id: string): Promise<unknown> =>
      query<VersionLineage>(`/api/artifact-versions/${id}/lineage`, { signal }).then(
        (found) => lineages.set(id, found),
        () => undefined,
      );
    for (let i = 0; i < asked.length; i += PARALLEL) await Promise.all(asked.slice(i, i + PARALLEL).map(read));
    return lineages;
  });
  return data ?? NO_LINEAGES;
}

const NO_LINEAGES: ReadonlyMap<string, VersionLineage> = new Map();
