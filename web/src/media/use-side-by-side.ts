import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { call } from "../api/client.ts";
import { requestsOf } from "./media-keys.ts";
import type { RichObject } from "./steps.ts";

/** Milliseconds that a slider may pause while it is moved, before what it shows is read. */
const SLIDING_MS = 80;

/** Answers that are kept, each with the objects of a key at a step. */
const KEPT_MAX = 400;

/** The objects of a key at a step, as far as runs have any: of runs by their ids. */
export type KeyObjects = {
  readonly step: number | undefined;
  readonly byRun: ReadonlyMap<string, RichObject>;
  /** The runs whose objects were read. */
  readonly runIds: ReadonlySet<string>;
};

/**
 * Reads the last objects of runs up to a step, of the keys that are in sight. While others are read, those of the step before stay. `version`
 * reads them again.
 */
export function useObjectsAtStep(
  runIds: readonly string[],
  keys: readonly string[],
  step: number | undefined,
  version: number,
): { readonly byKey: ReadonlyMap<string, KeyObjects>; readonly error: unknown } {
  const [found, setFound] = useState<ReadonlyMap<string, KeyObjects>>(new Map());
  const [error, setError] = useState<unknown>();
  const names = runIds.join();
  const kept = useMemo(() => new Map<string, KeyObjects>(), [names, version]);
  const isFirst = useRef(true);
  useEffect(() => {
    const ending = new AbortController();
    const nameOf = (key: string): string => `${step ?? ""}\n${key}`;
    const show = (): void =>
      setFound(
        (before) =>
          new Map(
            keys.flatMap((key) => {
              const now = kept.get(nameOf(key)) ?? before.get(key);
              return now === undefined ? [] : [[key, now] as const];
            }),
          ),
      );
    const readKeys = async (some: readonly string[]): Promise<void> => {
      const body = { run_ids: runIds, keys: some, ...(step === undefined ? {} : { step }) };
      const { objects } = await call<{ objects: RichObject[] }>("/api/objects/at-step", {
        body,
        signal: ending.signal,
      });
      const byKey = Map.groupBy(objects, ({ key }) => key);
      if (kept.size > KEPT_MAX) kept.clear();
      const read = new Set(runIds);
      for (const key of some) {
        const byRun = new Map((byKey.get(key) ?? []).map((one) => [one.run_id, one]));
        kept.set(nameOf(key), { step, byRun, runIds: read });
      }
      setError(undefined);
      show();
    };
    show();
    const missing = keys.filter((key) => !kept.has(nameOf(key)));
    if (missing.length === 0 || runIds.length === 0) return undefined;
    const timer = setTimeout(
      () => {
        for (const some of requestsOf(missing, runIds.length)) {
          readKeys(some).catch((fault: unknown) => {
            if (!ending.signal.aborted) setError(fault);
          });
        }
      },
      isFirst.current ? 0 : SLIDING_MS,
    );
    isFirst.current = false;
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [kept, keys.join("\n"), step]);
  return { byKey: found, error };
}
