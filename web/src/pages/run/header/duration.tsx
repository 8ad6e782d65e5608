import { useEffect, useState } from "preact/hooks";
import type { RunDetail } from "../../../api/run-types.ts";
import { durationWords } from "../../../ui/words.ts";

/** How long a run took; that of a running one grows each second. */
export function Duration({ run }: { readonly run: RunDetail }) {
  const [now, setNow] = useState(() => Date.now());
  const isRunning = run.status === "running";
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => !document.hidden && setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  // A run that gives no sign of life lasted, as far as anybody knows, until its last one.
  const end = isRunning
    ? run.stale
      ? Date.parse(run.last_seen_at)
      : now
    : Date.parse(run.finished_at ?? run.last_seen_at);
  return <>{durationWords(Math.max(0, end - Date.parse(run.started_at)))}</>;
}
