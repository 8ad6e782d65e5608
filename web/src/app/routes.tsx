import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { sessionState } from "../api/session.ts";
import { findProjectId } from "../api/project-id.ts";
import { queryAhead } from "../api/queries.ts";
import { projectPages } from "../pages/project/project-pages.ts";
import { neededFirst } from "../pages/project/runs/shown-runs.ts";
import { ErrorNote } from "../ui/page-states.tsx";
import { Skeleton } from "../ui/spinner.tsx";
import { currentLocation } from "./location.tsx";
import { matchRoute, openPages, type Route } from "./addresses.ts";
import { MissingPage } from "./missing-page.tsx";

type Page = FunctionComponent<Record<string, unknown>>;
type Loaded = { readonly page: Page } | { readonly error: unknown };

const runLists = () => import("../pages/run-lists.ts");
const reports = () => import("../pages/report-pages.ts");

/** The pages. Pages that people switch between are one part of the bundle: each further part splits its shared modules into several small files. */
const loaders: Readonly<Record<Exclude<Route["page"], "missing">, () => Promise<unknown>>> = {
  projects: async () => (await runLists()).ProjectsPage,
  project: async () => (await runLists()).ProjectPage,
  compare: async () => (await runLists()).ComparePage,
  run: async () => (await import("../pages/run/run-page.tsx")).RunPage,
  media: async () => (await import("../pages/media/media-page.tsx")).MediaPage,
  traces: async () => (await import("../pages/traces/traces-page.tsx")).TracesPage,
  artifacts: async () => (await import("../pages/artifacts/artifacts-page.tsx")).ArtifactsPage,
  reports: async () => (await reports()).ReportsPage,
  report: async () => (await reports()).ReportPage,
  "shared-report": async () => (await reports()).SharedReportPage,
  settings: async () => (await import("../pages/settings/settings-page.tsx")).SettingsPage,
  signin: async () => (await import("../pages/sign-in/sign-in-page.tsx")).SignInPage,
  device: async () => (await import("../pages/device/device-page.tsx")).DevicePage,
  invite: async () => (await import("../pages/invite/invite-page.tsx")).InvitePage,
};

const loaded = new Map<Route["page"], Loaded>();
const loading = new Map<Route["page"], Promise<void>>();

/** A page whose answers arrive within this time is drawn once, with them, and not first without. */
const ANSWERS_MS = 250;

/**
 * Begins to load the page of a route and its first data, so that both arrive while the session is requested. For a page that is already loaded
 * nothing is requested: it is drawn immediately and makes its own requests.
 */
export function preloadPage(route: Route, query: URLSearchParams): Promise<void> {
  const { page } = route;
  if (page === "missing") return Promise.resolve();
  const pending = loading.get(page) ?? load(page, page === "project" ? readFirst(route.project, query) : undefined);
  loading.set(page, pending);
  return pending;
}

/** Reads what the page of a project needs before anything else; resolves with its rows, or where they cannot be read. */
async function readFirst(project: string, query: URLSearchParams): Promise<void> {
  const id = await findProjectId(project).catch(() => null);
  if (id !== null) await neededFirst(id, query).map(queryAhead)[0];
}

async function load(page: Exclude<Route["page"], "missing">, first: Promise<void> | undefined): Promise<void> {
  try {
    const [part] = await Promise.all([
      loaders[page]() as Promise<Page>,
      signInPages.has(page) || loadStyle("page-style"),
      latePages.has(page) && loadStyle("late-style"),
    ]);
    if (first !== undefined) await Promise.race([first, new Promise((resolve) => setTimeout(resolve, ANSWERS_MS))]);
    loaded.set(page, { page: part });
  } catch (error) {
    loaded.set(page, { error });
  }
}

/** Pages without the styles of the others. */
const signInPages: ReadonlySet<Route["page"]> = new Set(["signin", "device", "invite"]);

/** Pages with styles that the others do not have. */
const latePages: ReadonlySet<Route["page"]> = new Set(projectPages.filter(({ late }) => late).map(({ id }) => id));

/** Loads styles that the document of another page only names. */
function loadStyle(relation: "page-style" | "late-style"): Promise<unknown> | undefined {
  const link = document.querySelector<HTMLLinkElement>(`link[rel=${relation}]`);
  if (link === null) return undefined;
  link.rel = "stylesheet";
  return new Promise((resolve) => {
    link.onload = resolve;
    link.onerror = resolve;
  });
}

function unload(page: Route["page"]): void {
  loaded.delete(page);
  loading.delete(page);
}

/** The page of the address, once its part of the bundle is there and it is known who is signed in. */
export function CurrentPage() {
  const { path, query } = currentLocation.value;
  const route = matchRoute(path);
  const [, redraw] = useState(0);
  useEffect(() => {
    let isLeft = false;
    if (!loaded.has(route.page)) {
      void preloadPage(route, query).then(() => {
        if (!isLeft) redraw((count) => count + 1);
      });
    }
    return () => {
      isLeft = true;
    };
  }, [route.page]);
  const { value: state } = sessionState;
  const isReady = openPages.has(route.page) ? state !== "loading" : state === "in" || state === "ended";
  if (route.page === "missing") return <MissingPage />;
  const found = loaded.get(route.page);
  if (found === undefined || !isReady) return <Waiting />;
  if ("error" in found) return <PartMissing onRetry={() => unload(route.page)} />;
  const { page: name, ...props } = route;
  return <found.page key={keyOf(route, name)} {...props} />;
}

/** Returns the key that makes a page a different one, and not the same with other contents. */
function keyOf(route: Route, name: string): string {
  const { project, runId, reportId, token } = route as Readonly<Record<string, string | undefined>>;
  return [name, project, runId, reportId, token].join("\n");
}

/** A part of the bundle did not arrive: the server is down, or has a newer version of the page. */
function PartMissing({ onRetry }: { readonly onRetry: () => void }) {
  useEffect(onRetry, []);
  return (
    <div class="tm-page">
      <p>This page could not be loaded.</p>
      <ErrorNote error={new Error()} onRetry={() => location.reload()} />
    </div>
  );
}

function Waiting() {
  return (
    <div class="tm-page" aria-busy="true">
      <h1 class="tm-hidden">Loading</h1>
      <Skeleton width="240px" height="26px" />
      <Skeleton lines={5} height="18px" />
    </div>
  );
}
