import { signal } from "@preact/signals";
import { absoluteTime, relativeTime } from "./time-words.ts";

/** One clock for all times of the page; it stands still while nobody looks. */
const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 20_000);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) now.value = Date.now();
});

/** A time of the API as it is spoken of (`5 min ago`), with the exact one as its tooltip; `fallback` where there is none. */
export function Time({
  at,
  fallback = "never",
}: {
  readonly at: string | null | undefined;
  readonly fallback?: string;
}) {
  const atMs = at === null || at === undefined ? Number.NaN : Date.parse(at);
  if (Number.isNaN(atMs)) return <span class="tm-muted">{fallback}</span>;
  return (
    <time dateTime={at!} title={absoluteTime(atMs)}>
      {relativeTime(atMs, Math.max(now.value, Math.min(atMs, Date.now())))}
    </time>
  );
}
