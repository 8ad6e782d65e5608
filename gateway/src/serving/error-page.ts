import type { ErrorAnswer } from "../errors.ts";
import { escapeHtml, writePage, type WrittenPage } from "../http/page.ts";

const STYLE = `:root{color-scheme:light dark;font:14px/1.45 system-ui,sans-serif}
body{margin:12vh auto;max-width:46em;padding:0 16px;text-align:center}
h1{font-size:16px}`;

const TITLES: Readonly<Record<number, string>> = {
  404: "This page does not exist",
  429: "Too many requests",
  503: "Not available at the moment",
};

/** Writes the page for an error of a route that answers with pages. */
export function errorPage({ status, body }: ErrorAnswer): WrittenPage {
  const title = TITLES[status] ?? "This page cannot be shown";
  return writePage({
    title,
    style: STYLE,
    body: `<main><h1>${title}</h1><p>${escapeHtml(sentence(body.error))}</p></main>`,
  });
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
