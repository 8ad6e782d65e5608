import type { Page } from "../../../http/page.ts";
import { pageScript, pageStyle } from "./bundle.ts";

const BODY = `<header><h1>Runs</h1><p id="status" role="status">Loading…</p><button type="button" id="again">Refresh</button></header>
<main><nav id="runs"></nav><div id="charts"></div></main>
<noscript><p class="message">This view needs JavaScript.</p></noscript>`;

/** Returns the page of an embed session. It is the same for all sessions, except for its theme and for the time when it checks whether it has ended. */
export function embedPage(session: {
  /** light, dark or system. */
  readonly theme: string;
  /** RFC 3339. */
  readonly expiresAt: string;
  readonly allowedParentOrigin: string;
  readonly nowMs: number;
}): Page {
  const lastsMs = Math.max(0, Date.parse(session.expiresAt) - session.nowMs);
  return {
    title: "Runs",
    style: pageStyle,
    script: pageScript,
    body: BODY,
    data: { theme: session.theme, "lasts-ms": String(lastsMs) },
    framedBy: session.allowedParentOrigin,
  };
}
