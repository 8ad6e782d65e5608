import { useEffect, useRef, useState } from "preact/hooks";
import { watchProject } from "./changes.ts";

/** How often each kind of thing of a run has changed since the page opened: what reads it, reads it again when its number grows. */
export type Changes = {
  readonly run: number;
  readonly points: number;
  readonly lines: number;
  readonly objects: number;
};

const NONE: Changes = { run: 0, points: 0, lines: 0, objects: 0 };

/** Changes are bundled over this time, so that a busy run causes one read a second and not five. */
const BUNDLE_MS = 1000;

/** Follows the changes of a run by the stream of its project. */
export function useChanges(projectId: string | undefined, runId: string): Changes {
  const [changes, setChanges] = useState(NONE);
  useEffect(() => {
    if (projectId === undefined) return undefined;
    const changed = new Set<keyof Changes>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = (): void => {
      timer = undefined;
      const kinds = new Set(changed);
      changed.clear();
      setChanges((before) => ({
        run: before.run + Number(kinds.has("run")),
        points: before.points + Number(kinds.has("points")),
        lines: before.lines + Number(kinds.has("lines")),
        objects: before.objects + Number(kinds.has("objects")),
      }));
    };
    const stop = watchProject(projectId, (event) => {
      if (event.kind === "reset") for (const kind of ["run", "points", "lines", "objects"] as const) changed.add(kind);
      else if (event.run_id !== runId) return;
      else changed.add(event.kind === "stop" ? "run" : event.kind);
      // Changes that the user waits for are passed on immediately.
      if (event.kind === "stop" || event.kind === "run") {
        clearTimeout(timer);
        flush();
      } else timer ??= setTimeout(flush, BUNDLE_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [projectId, runId]);
  return changes;
}

/** Returns a count of changes that follows another one, at most once in this time from the first drawing on: what is slow to read is read again by it. */
export function usePaced(version: number, apartMs: number): number {
  const [paced, setPaced] = useState(version);
  const changedAt = useRef(performance.now());
  useEffect(() => {
    if (version === paced) return undefined;
    const waitMs = Math.max(0, changedAt.current + apartMs - performance.now());
    const timer = setTimeout(() => {
      changedAt.current = performance.now();
      setPaced(version);
    }, waitMs);
    return () => clearTimeout(timer);
  }, [version]);
  return paced;
}
