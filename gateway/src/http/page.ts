import { createHash } from "node:crypto";

/** The media type of pages, which marks the routes that answer with one. */
export const PAGE_TYPE = "text/html";

/** A page of ours. */
export type Page = {
  readonly title: string;
  readonly style: string;
  /** A JavaScript module, which may call this server; without one the page runs no code. */
  readonly script?: string;
  /** Markup; its author escapes the texts in it. */
  readonly body: string;
  /** `data-*` attributes of the root, by their names without `data-`. */
  readonly data?: Readonly<Record<string, string>>;
  /** The one origin whose pages may show it in a frame; without one no page may. */
  readonly framedBy?: string;
};

/** A page as it is sent. */
export type WrittenPage = { readonly text: string; readonly headers: Readonly<Record<string, string>> };

/**
 * Writes a page and its headers. All HTML of the gateway is made here: the page runs and loads only the style and the script whose hashes the policy
 * names (Content Security Policy 3), no cache keeps the page, its address is sent nowhere, and no other page may show it in a frame, unless it names an
 * origin. Old browsers read `X-Frame-Options`, which does not support origins.
 */
export function writePage({ title, style, script, body, data = {}, framedBy }: Page): WrittenPage {
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${escapeHtml(value)}"`);
  const text =
    `<!doctype html><html lang="en"${attributes.join("")}><head><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title>` +
    `<style>${style}</style></head><body>${body}` +
    `${script === undefined ? "" : `<script type="module">${script}</script>`}</body></html>`;
  const policy = [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${hashOf(script)}`]),
    `style-src ${hashOf(style)}`,
    ...(script === undefined ? [] : ["connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${framedBy ?? "'none'"}`,
  ];
  return {
    text,
    headers: {
      "content-type": `${PAGE_TYPE}; charset=utf-8`,
      "content-security-policy": policy.join("; "),
      ...(framedBy === undefined ? { "x-frame-options": "DENY" } : {}),
      "cache-control": "private, no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    },
  };
}

/** Returns a text as markup of the same text, also within quotes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
