import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { absoluteTime, relativeTime } from "./words.ts";
import { whenIdle } from "./when-idle.ts";

/** One clock for all times of the page; it stops while the page is hidden. */
const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 20_000);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) now.value = Date.now();
});

/** Whether exact times are written: no user points at one before the page is drawn, and the first takes the browser long. */
const isExact = signal(false);
let isAsked = false;

function askForExact(): void {
  if (isAsked) return;
  isAsked = true;
  whenIdle(() => {
    isExact.value = true;
  }, 1000);
}

/** A time of the API in relative words (`5 min ago`), with the exact one as its tooltip; `fallback` where there is none. */
export function Time({
  at,
  fallback = "never",
}: {
  readonly at: string | null | undefined;
  readonly fallback?: string;
}) {
  useEffect(askForExact, []);
  const atMs = at === null || at === undefined ? Number.NaN : Date.parse(at);
  if (Number.isNaN(atMs)) return <span class="tm-muted">{fallback}</span>;
  return (
    <time dateTime={at!} title={isExact.value ? absoluteTime(atMs) : undefined}>
      {relativeTime(atMs, Math.max(now.value, Math.min(atMs, Date.now())))}
    </time>
  );
}
