import { nameOfPart, runTabs, type RunTab } from "./addresses.ts";

/** Which page an address shows. */
export type Route =
  | { readonly page: "projects" | "signin" | "device" | "invite" | "missing" }
  | { readonly page: "project" | "compare" | "reports"; readonly project: string }
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
  if (kind === undefined) return { page: "project", project };
  if (runId === undefined && (kind === "compare" || kind === "reports")) return { page: kind, project };
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
