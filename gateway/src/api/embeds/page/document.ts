import type { EmbedParts } from "@tidemark/web/build";
import type { Page } from "../../../http/page.ts";

const BODY = `<div id="app"></div><noscript><p class="message">This view needs JavaScript.</p></noscript>`;

/** Returns the page of an embed session. It is the same for all sessions, except for its theme and for the time when it checks whether it has ended. */
export function embedPage(
  { script, style }: EmbedParts,
  session: {
    /** light, dark or system. */
    readonly theme: string;
    /** RFC 3339. */
    readonly expiresAt: string;
    readonly allowedParentOrigin: string;
    readonly nowMs: number;
  },
): Page {
  const lastsMs = Math.max(0, Date.parse(session.expiresAt) - session.nowMs);
  return {
    title: "Runs",
    style,
    script,
    body: BODY,
    data: { theme: session.theme, "lasts-ms": String(lastsMs) },
    framedBy: session.allowedParentOrigin,
  };
}
