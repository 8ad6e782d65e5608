import { useEffect, useState } from "preact/hooks";
import { usePaced } from "../../api/use-paced.ts";
import { readKeys, type CatalogueKey } from "./catalogue.ts";

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
