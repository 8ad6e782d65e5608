import { useEffect, useState } from "preact/hooks";
import { usePaced } from "../../api/use-changes.ts";
import { call } from "../../api/client.ts";

/** Keys that runs begin to log while the page is open appear after at most this time. */
const AGAIN_MS = 10_000;

/** Reads the names of keys while `active`, and again, not too often, when `news` changes. */
export function useCatalogue(
  projectId: string,
  kind: CatalogueKey["kind"],
  runIds: readonly string[],
  active: boolean,
  news: number,
): { readonly names: readonly string[] | undefined; readonly error: unknown } {
  const [names, setNames] = useState<readonly string[] | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const newsRead = usePaced(news, AGAIN_MS);
  // Of many runs the keys of the whole project are listed, so that another choice of runs needs no request.
  const asked = runIds.length > 0 && runIds.length <= FEW_RUNS ? runIds : undefined;
  const askedName = asked?.toSorted().join() ?? "";
  useEffect(() => {
    if (!active) return;
    const controller = new AbortController();
    let isFirst = true;
    readKeys(
      {
        projectId,
        kind,
        ...(kind === "config" ? { pagesMax: 1 } : {}),
        ...(asked === undefined ? {} : { runIds: asked }),
        signal: controller.signal,
      },
      (keys) => {
        const next = keys.map(({ name }) => name);
        // The first page shows immediately; later ones, and new keys, only where they change something.
        setNames((before) =>
          isFirst && before !== undefined && before.length > next.length && newsRead > 0 ? before : same(before, next),
        );
        isFirst = false;
        setError(undefined);
      },
    ).catch((fault: unknown) => {
      if (!controller.signal.aborted) setError(fault);
    });
    return () => controller.abort();
  }, [projectId, kind, askedName, active, newsRead]);
  return { names, error };
}

const FEW_RUNS = 20;

function same(before: readonly string[] | undefined, next: readonly string[]): readonly string[] {
  return before?.length === next.length && before.every((name, i) => name === next[i]) ? before : next;
}

/** A key and how many runs have it. */
type CatalogueKey = {
  readonly name: string;
  readonly kind: "metric" | "attribute" | "config";
  readonly run_count: number;
};

type Page = { readonly keys: readonly CatalogueKey[]; readonly next_cursor: string | null };

const PAGE_ROWS = 1000;

/** More keys than this are not listed; a search reaches them on the server. */
const KEYS_MAX = 20_000;

/** For up to this many runs only their own keys are listed; the ids of more would not fit into an address. */
const OWN_KEYS_RUNS_MAX = 20;

/** A read of the keys of a project. */
type KeysRequest = {
  readonly projectId: string;
  readonly kind: CatalogueKey["kind"];
  readonly runIds?: readonly string[];
  /** Pages of a thousand keys. */
  readonly pagesMax?: number;
  readonly signal: AbortSignal;
};

/** A caller needs a moment to show thousands of keys, so further pages are not reported faster. */
const TELL_MS = 500;

/** Reads the keys of a project, or of some runs where these are few, page after page; reports them after the first page, now and then, and at the end. */
export async function readKeys(
  { projectId, kind, runIds, pagesMax = Infinity, signal }: KeysRequest,
  onPage: (keys: readonly CatalogueKey[]) => void,
): Promise<void> {
  const keys: CatalogueKey[] = [];
  let cursor: string | null = null;
  let pages = 0;
  let toldAt = -Infinity;
  do {
    const query = new URLSearchParams({ kind, limit: String(PAGE_ROWS) });
    if (runIds !== undefined && runIds.length <= OWN_KEYS_RUNS_MAX) query.set("run_ids", runIds.join(","));
    if (cursor !== null) query.set("cursor", cursor);
    const page: Page = await call<Page>(`/api/projects/${encodeURIComponent(projectId)}/keys?${query}`, { signal });
    keys.push(...page.keys);
    pages += 1;
    cursor = keys.length < KEYS_MAX && pages < pagesMax ? page.next_cursor : null;
    if (cursor !== null && performance.now() - toldAt < TELL_MS) continue;
    onPage([...keys]);
    toldAt = performance.now();
  } while (cursor !== null);
}
