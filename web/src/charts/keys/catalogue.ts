import { call } from "../../api/client.ts";

/** A key and how many runs have it. */
export type CatalogueKey = {
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
export type KeysRequest = {
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
