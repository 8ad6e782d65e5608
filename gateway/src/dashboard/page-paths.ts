import { PAGE_TYPE } from "../http/page.ts";

/** Paths that are pages for a browser, and the part of the bundle that their first view needs. A path part may be anything but empty. */
const PAGES: readonly (readonly [pattern: RegExp, part: string])[] = [
  [/^\/$/, "projects"],
  [/^\/signin$/, "signin"],
  [/^\/auth\/device$/, "device"],
  [/^\/invite$/, "invite"],
  [/^\/p\/[^/]+$/, "project"],
  [/^\/p\/[^/]+\/compare$/, "compare"],
  [/^\/p\/[^/]+\/reports$/, "reports"],
  [/^\/p\/[^/]+\/r\/[^/]+(?:\/[^/]+)?$/, "run"],
  [/^\/reports\/[^/]+$/, "report"],
  [/^\/r\/[^/]+$/, "shared-report"],
  [/^\/settings(?:\/[^/]+)?$/, "settings"],
  // The page itself says that there is no such page, in the style of the others.
  [/^\/(?:p|reports|r|settings)\/.+$/, ""],
];

/**
 * Returns the part of the bundle that a path shows, empty when no part is known for it; undefined where the path is not a page. A trailing slash is not a
 * part.
 */
export function pageOfPath(path: string): string | undefined {
  const trimmed = path.replace(/(?<=[^/])\/$/, "");
  return PAGES.find(([pattern]) => pattern.test(trimmed))?.[1];
}

/** Whether a client wants a page rather than a document for programs: it names HTML itself, as browsers do when they open an address (RFC 9110, Accept). */
export function wantsHtml(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  return accept.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return type === PAGE_TYPE && !parameters.some((part) => /^q=0(?:\.0{0,3})?$/.test(part));
  });
}
