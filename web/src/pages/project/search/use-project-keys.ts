import { useEffect, useState } from "preact/hooks";
import { call } from "../../../api/client.ts";

/** A key of the catalogue of a project. */
export type ProjectKey = {
  readonly name: string;
  readonly kind: "metric" | "attribute" | "config";
  readonly run_count: number;
};

const SHOWN = 200;
const PAUSE_MS = 120;

/** Reads the keys of a project whose names contain a text, the first 200. */
export function useProjectKeys(projectId: string | undefined, text: string): readonly ProjectKey[] {
  const [keys, setKeys] = useState<readonly ProjectKey[]>([]);
  useEffect(() => {
    if (projectId === undefined) return undefined;
    const ending = new AbortController();
    const timer = setTimeout(
      () => {
        const query = new URLSearchParams({ limit: String(SHOWN), ...(text === "" ? {} : { q: text }) });
        const path = `/api/projects/${projectId}/keys?${query}`;
        // A half-typed expression finds nothing until it is whole.
        call<{ keys: readonly ProjectKey[] }>(path, { signal: ending.signal }).then(
          ({ keys: found }) => setKeys(found),
          () => undefined,
        );
      },
      text === "" ? 0 : PAUSE_MS,
    );
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [projectId, text]);
  return keys;
}
