/** The tabs of a run. */
export const runTabs = [
  "overview",
  "charts",
  "logs",
  "config",
  "files",
  "objects",
  "ranks",
  "traces",
  "lineage",
] as const;

/** A tab of a run. */
export type RunTab = (typeof runTabs)[number];

/** Returns the address of a project by its name. */
export const projectAddress = (project: string): string => `/p/${partOfName(project)}`;

/** Names that a browser would take for a step within the path in any encoding, and names that look like their replacements. */
const DOTS = /^~*\.{1,2}$/;

/** Returns a name as a part of a path. A `~` is put before `.` and `..`, and before a name that has such a `~` itself. */
const partOfName = (name: string): string => `${DOTS.test(name) ? "~" : ""}${encodeURIComponent(name)}`;

/** Returns the name that a decoded part of a path represents. */
export const nameOfPart = (part: string): string => (part.startsWith("~") && DOTS.test(part) ? part.slice(1) : part);

/** Returns the address of a run. */
export const runAddress = (project: string, runId: string, tab?: RunTab): string =>
  `${projectAddress(project)}/r/${encodeURIComponent(runId)}${tab === undefined ? "" : `/${tab}`}`;

/** Returns the address of the comparison of a project's runs. */
export const compareAddress = (project: string): string => `${projectAddress(project)}/compare`;

/** Returns the address of a project's reports. */
export const reportsAddress = (project: string): string => `${projectAddress(project)}/reports`;

/** Returns the address to sign in at and then go on to `next`, an address of the dashboard. */
export const signInAddress = (next: string): string =>
  next === "/" || next === "" ? "/signin" : `/signin?next=${encodeURIComponent(next)}`;

/** Returns a `next` if it is an address of this dashboard, else the first page: a link must not lead people to another site after they signed in. */
export function localAddress(next: string | null): string {
  if (next === null || !/^\/(?![/\\])/.test(next)) return "/";
  const url = URL.parse(next, "http://dashboard.invalid");
  if (url === null || url.origin !== "http://dashboard.invalid" || url.pathname.startsWith("//")) return "/";
  return `${url.pathname}${url.search}${url.hash}`;
}
