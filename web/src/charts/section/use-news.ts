import { useEffect, useRef, useState } from "preact/hooks";
import { watchProject } from "../../api/changes.ts";

/** Least time between two reads of new data. */
const NEWS_APART_MS = 1000;

/** Counts the news of some runs of a project: immediately, then at most once a second. 0 while nothing is watched. */
export function useNews(projectId: string, runIds: readonly string[], live: boolean): number {
  const [news, setNews] = useState(0);
  const watched = useRef<ReadonlySet<string>>(new Set());
  watched.current = new Set(runIds);
  useEffect(() => {
    if (!live) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    const announce = (): void => {
      timer = undefined;
      last = performance.now();
      setNews((count) => count + 1);
    };
    const end = watchProject(projectId, ({ kind, run_id: runId }) => {
      const concerns = kind === "reset" || (kind === "points" && (runId === undefined || watched.current.has(runId)));
      if (!concerns || timer !== undefined) return;
      timer = setTimeout(announce, Math.max(0, last + NEWS_APART_MS - performance.now()));
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [projectId, live]);
  return live ? news : 0;
}
