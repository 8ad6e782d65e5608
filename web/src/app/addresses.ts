import { projectPages, type ProjectPageId } from "../pages/project/project-pages.ts";

/** The tabs of a run. */
export const runTabs = [
  "overview",
  "charts",
  "system",
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
const nameOfPart = (part: string): string => (part.startsWith("~") && DOTS.test(part) ? part.slice(1) : part);

/** Returns the address of a run. */
export const runAddress = (project: string, runId: string, tab?: RunTab): string =>
  `${projectAddress(project)}/r/${encodeURIComponent(runId)}${tab === undefined ? "" : `/${tab}`}`;

/** Returns the address of the comparison of a project's runs. */
export const compareAddress = (project: string): string => `${projectAddress(project)}/compare`;

/** Returns the address of a page of a project. */
export function projectPageAddress(project: string, id: ProjectPageId): string {
  const path = projectPages.find((page) => page.id === id)!.path;
  return `${projectAddress(project)}${path === "" ? "" : `/${path}`}`;
}

/** Returns the address of what was deleted: of runs of the project with this id, or of everything. */
export const trashAddress = (projectId?: string): string =>
  projectId === undefined ? "/settings/trash" : `/settings/trash?project_id=${encodeURIComponent(projectId)}`;

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

/** Returns an address to link to if a text is one of the web or of mail, without credentials in it; else undefined. */
export function webAddress(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || !["http:", "https:", "mailto:"].includes(url.protocol)) return undefined;
  return url.username === "" && url.password === "" ? url.href : undefined;
}

/** Takes the token out of the fragment of the address, where servers and logs never see it, and out of the history. */
export function takeToken(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null || token === "") return undefined;
  history.replaceState(undefined, "", `${location.pathname}${location.search}`);
  return token;
}

/** Which page an address shows. */
export type Route =
  | { readonly page: "projects" | "signin" | "device" | "invite" | "missing" }
  | { readonly page: ProjectPageId | "compare"; readonly project: string }
  | { readonly page: "run"; readonly project: string; readonly runId: string; readonly tab: RunTab }
  | { readonly page: "report"; readonly reportId: string }
  | { readonly page: "shared-report"; readonly token: string }
  | { readonly page: "settings"; readonly section: string };

/** Pages that people see who are not signed in. */
export const openPages: ReadonlySet<Route["page"]> = new Set([
  "signin",
  "invite",
  "shared-report",
  "report",
  "missing",
]);

const MISSING: Route = { page: "missing" };

/** Returns the page of a path. */
export function matchRoute(path: string): Route {
  const parts = partsOf(path);
  if (parts === undefined) return MISSING;
  const [first, second, ...below] = parts;
  if (first === undefined) return { page: "projects" };
  if (first === "p" && second !== undefined) return projectRoute(nameOfPart(second), below);
  if (parts.length === 1 && (first === "signin" || first === "invite")) return { page: first };
  if (parts.length === 2 && first === "auth" && second === "device") return { page: "device" };
  if (first === "settings" && parts.length <= 2) return { page: "settings", section: second ?? "" };
  if (parts.length !== 2 || second === undefined) return MISSING;
  if (first === "reports") return { page: "report", reportId: second };
  if (first === "r") return { page: "shared-report", token: second };
  return MISSING;
}

function projectRoute(project: string, [kind, runId, tab, ...more]: readonly string[]): Route {
  if (runId === undefined) {
    const page = kind === "compare" ? kind : projectPages.find(({ path }) => path === (kind ?? ""))?.id;
    if (page !== undefined) return { page, project };
  }
  if (kind !== "r" || runId === undefined || more.length > 0) return MISSING;
  const known = tab === undefined ? "charts" : runTabs.find((name) => name === tab);
  return known === undefined ? MISSING : { page: "run", project, runId, tab: known };
}

/** The decoded parts of a path; a slash at its end is not a part. Undefined if it cannot be decoded. */
function partsOf(path: string): readonly string[] | undefined {
  const trimmed = path.replace(/^\//, "").replace(/\/$/, "");
  try {
    return trimmed === "" ? [] : trimmed.split("/").map(decodeURIComponent);
  } catch {
    // The address has a percent sign that encodes nothing.
    return undefined;
  }
}

/** Joins texts by commas; commas and backslashes within them have a backslash before them. Blank lists are undefined. */
export function joinList(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : texts.map((text) => text.replace(/[\\,]/g, "\\$&")).join(",");
}

/** Reads what `joinList` wrote, empty texts in their places; the empty text is not a list. */
export function listParts(text: string): string[] {
  if (text === "") return [];
  const texts = [""];
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i]!;
    if (character === ",") texts.push("");
    else texts[texts.length - 1] += character === "\\" && i + 1 < text.length ? text[(i += 1)]! : character;
  }
  return texts;
}

/** Reads what `joinList` wrote; empty and repeated texts are left out. */
export function splitList(text: string | null): string[] {
  return [...new Set(listParts(text ?? ""))].filter((one) => one !== "");
}
