import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { RichObject } from "../../media/object-types.ts";

const PAGE = 500;

/** Objects of a run, those of the last steps first. */
export type Objects = {
  /** Undefined while nothing is known. */
  readonly objects: readonly RichObject[] | undefined;
  readonly error: unknown;
  /** Whether these are all. */
  readonly isOver: boolean;
  readonly more: () => void;
};

/** Reads the objects of a run; what is logged later is added when `version` grows. */
export function useObjects(runId: string, version: number): Objects {
  const [objects, setObjects] = useState<ReadonlyMap<number, RichObject>>();
  const [error, setError] = useState<unknown>();
  const [isOver, setOver] = useState(false);
  const ending = useRef<AbortController | undefined>(undefined);
  const read = async (offset: number): Promise<void> => {
    const own = ending.current;
    try {
      const page = await call<{ objects: RichObject[] }>(`/api/runs/${runId}/objects?limit=${PAGE}&offset=${offset}`, {
        signal: own?.signal,
      });
      setError(undefined);
      setObjects(
        (before) => new Map([...(before ?? []), ...page.objects.map((object) => [object.id, object] as const)]),
      );
      if (page.objects.length < PAGE) setOver(true);
    } catch (fault) {
      if (own?.signal.aborted !== true) setError(fault);
    }
  };
  useEffect(() => {
    ending.current = new AbortController();
    setObjects(undefined);
    setOver(false);
    return () => ending.current?.abort();
  }, [runId]);
  useEffect(() => void read(0), [runId, version]);
  return {
    objects: objects === undefined ? undefined : [...objects.values()],
    error,
    isOver,
    more: () => void read(objects?.size ?? 0),
  };
}
