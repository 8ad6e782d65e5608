import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../api/client.ts";
import type { RichObject } from "./steps.ts";

const PAGE = 500;

/** Objects of runs, those of the last steps first. */
export type Objects = {
  /** By the ids of runs, of those that were read. */
  readonly byRun: ReadonlyMap<string, readonly RichObject[]>;
  readonly error: unknown;
  /** Whether these are all. */
  readonly isOver: boolean;
  readonly more: () => void;
};

type Known = { readonly byId: ReadonlyMap<number, RichObject>; readonly isOver: boolean };

/** Reads the objects of runs; objects logged later are added when `version` grows. */
export function useObjects(runIds: readonly string[], version: number): Objects {
  const [known, setKnown] = useState<ReadonlyMap<string, Known>>(new Map());
  const [error, setError] = useState<unknown>();
  const ending = useRef<AbortController | undefined>(undefined);
  const names = runIds.join();
  const read = async (runId: string, offset: number): Promise<void> => {
    const own = ending.current;
    try {
      const { objects } = await call<{ objects: RichObject[] }>(
        `/api/runs/${runId}/objects?limit=${PAGE}&offset=${offset}`,
        { signal: own?.signal },
      );
      setError(undefined);
      setKnown((before) => {
        const { byId, isOver } = before.get(runId) ?? { byId: new Map(), isOver: false };
        const all = new Map([...byId, ...objects.map((object) => [object.id, object] as const)]);
        return new Map(before).set(runId, { byId: all, isOver: isOver || objects.length < PAGE });
      });
    } catch (fault) {
      if (own?.signal.aborted !== true) setError(fault);
    }
  };
  const readVersion = useRef(version);
  useEffect(() => {
    ending.current = new AbortController();
    const isNew = version !== readVersion.current;
    readVersion.current = version;
    // Runs that are added to others are read alone.
    for (const id of runIds) if (isNew || !known.has(id)) void read(id, 0);
    return () => ending.current?.abort();
  }, [names, version]);
  return {
    byRun: new Map(
      runIds.flatMap((id) => {
        const found = known.get(id);
        return found === undefined ? [] : [[id, [...found.byId.values()]] as const];
      }),
    ),
    error,
    isOver: runIds.every((id) => known.get(id)?.isOver !== false),
    more: () => {
      for (const id of runIds) {
        const found = known.get(id);
        if (found?.isOver === false) void read(id, found.byId.size);
      }
    },
  };
}
