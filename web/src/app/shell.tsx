import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { endSession, session, sessionState } from "../api/session.ts";
import { onSignedOut } from "../api/client.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Toasts, undoLast } from "../ui/toast.tsx";
import { connection } from "../api/changes.ts";
import { Spinner } from "../ui/spinner.tsx";
import { whenIdle } from "../ui/when-idle.ts";
import "./shell.css";
import { AccountMenu } from "./account-menu.tsx";
import { projectPages } from "../pages/project/project-pages.ts";
import { matchRoute, openPages, projectAddress, projectPageAddress, signInAddress } from "./addresses.ts";
import { useKeys } from "./keys.ts";
import { lazy } from "./lazy.tsx";
import { currentLocation, Link, navigate } from "./location.tsx";
import { CurrentPage } from "./routes.tsx";
import { theme, toggleTheme } from "./theme.ts";

/** The overlay of the page: nothing, the palette of commands, the help about keys, or the sign-in. */
const overlay = signal<"palette" | "help" | "sign-in" | undefined>(undefined);
const close = (): void => {
  overlay.value = undefined;
};

const overlays = () => import("./overlays.ts");
const Palette = lazy(async () => (await overlays()).Palette, { onMissing: close });
const KeysHelp = lazy(async () => (await overlays()).KeysHelp, { onMissing: close });
const SignInDialog = lazy(async () => (await import("../pages/sign-in/sign-in-dialog.tsx")).SignInDialog, {
  onMissing: askToSignIn,
});

/** The server says that the session has ended: asks for a sign-in over the page, or at the sign-in if there was no session before. */
function onRefused(): void {
  if (endSession()) overlay.value = "sign-in";
  else askToSignIn();
}

/** Goes to the sign-in, which leads back to where the page is now. */
function askToSignIn(): void {
  const { path, query } = currentLocation.peek();
  const { page } = matchRoute(path);
  if (openPages.has(page)) return;
  const text = query.toString();
  navigate(signInAddress(text === "" ? path : `${path}?${text}`), { replace: true });
}

/** The whole window: a bar, the page, and what lies over it. */
export function Shell() {
  const { path } = currentLocation.value;
  const route = matchRoute(path);
  useEffect(() => onSignedOut(onRefused), []);
  useEffect(() => {
    if (sessionState.value === "out") askToSignIn();
    if (sessionState.value === "in" && overlay.peek() === "sign-in") close();
  }, [sessionState.value, route.page]);
  useKeys(
    {
      "Ctrl+K": { label: "Go to anything", run: () => (overlay.value = "palette") },
      "?": { label: "Show keyboard shortcuts", run: () => (overlay.value = "help") },
      "Ctrl+Z": { label: "Undo", run: undoLast },
    },
    { label: "Everywhere" },
  );
  const main = useFocusOnNewPage("project" in route ? `${route.page}/${route.project}` : route.page);
  const isIn = session.value !== undefined;
  // So that the first letters after Ctrl+K are not lost.
  useEffect(() => (isIn ? whenIdle(() => void overlays().catch(close), 5000) : undefined), [isIn]);
  return (
    <>
      <a
        class="tm-skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to content
      </a>
      <header class="tm-top">
        <Link class="tm-brand" href="/" aria-label="Tidemark: all projects">
          <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
            <path d="M2 14c3 0 3-3 6-3s3 3 6 3 3-3 6-3M2 18c3 0 3-3 6-3s3 3 6 3 3-3 6-3M4 6h14" />
          </svg>
          <span>Tidemark</span>
        </Link>
        {isIn && <Crumbs />}
        <span class="tm-bar-room" />
        {isIn && (
          <button
            type="button"
            class="tm-jump"
            aria-keyshortcuts="Control+K"
            onClick={() => (overlay.value = "palette")}
          >
            <Icon name="search" />
            <span class="tm-jump-text">Go to…</span>
            <kbd>Ctrl K</kbd>
          </button>
        )}
        <IconButton
          icon={theme.value === "dark" ? "sun" : "moon"}
          label={theme.value === "dark" ? "Use the light theme" : "Use the dark theme"}
          onClick={toggleTheme}
        />
        {isIn && <AccountMenu onHelp={() => (overlay.value = "help")} />}
      </header>
      {sessionState.value !== "ended" ? <ConnectionBanner /> : overlay.value !== "sign-in" && <SignedOutBanner />}
      <main id="main" ref={main} tabIndex={-1}>
        <CurrentPage />
      </main>
      <Toasts />
      {overlay.value === "palette" && isIn && <Palette onClose={close} />}
      {overlay.value === "help" && <KeysHelp onClose={close} />}
      {overlay.value === "sign-in" && <SignInDialog onClose={close} />}
    </>
  );
}

/** The query that a page of a project passes on to another: those that show the runs of its table keep their choice, its traces the search for runs. */
function keptQuery(from: string, to: string): string {
  const shows = (page: string): boolean => page === "project" || page === "media";
  if (from === to) return "";
  if (shows(from) && shows(to)) return location.search;
  const q = currentLocation.value.query.get("q");
  const isSearched = (page: string): boolean => shows(page) || page === "traces";
  return q !== null && isSearched(from) && isSearched(to) ? `?q=${encodeURIComponent(q)}` : "";
}

/** Where the page is within a project, and the other pages of the project. */
function Crumbs() {
  const route = matchRoute(currentLocation.value.path);
  if (!("project" in route)) return null;
  return (
    <>
      <nav class="tm-crumbs" aria-label="Where you are">
        <Icon name="chevron-right" size={14} />
        <Link href={projectAddress(route.project)}>{route.project}</Link>
      </nav>
      <nav class="tm-project-pages" aria-label="Pages of the project">
        {projectPages.map(({ id, label }) => (
          <Link
            key={id}
            href={projectPageAddress(route.project, id) + keptQuery(route.page, id)}
            aria-current={route.page === id ? "page" : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
    </>
  );
}

/** Gives the focus to the content when another page is shown, as a browser does with a new document. */
function useFocusOnNewPage(page: string) {
  const main = useRef<HTMLElement>(null);
  const before = useRef(page);
  useEffect(() => {
    if (before.current === page) return;
    before.current = page;
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [page]);
  return main;
}

/** Milliseconds of a loss that are not reported. */
const HIDDEN_MS = 1500;

/** Says that the server does not answer, while it does not. The page continues by itself afterwards. */
function ConnectionBanner() {
  const isDown = connection.value !== "live";
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isDown) {
      setShown(false);
      return undefined;
    }
    const timer = setTimeout(() => setShown(true), HIDDEN_MS);
    return () => clearTimeout(timer);
  }, [isDown]);
  return (
    <div role="status">
      {isShown && (
        <p class="tm-banner">
          <Spinner /> The server is not responding. This page may be out of date; it reconnects by itself.
        </p>
      )}
    </div>
  );
}

/** Says that the session has ended after its sign-in was closed. */
function SignedOutBanner() {
  return (
    <p class="tm-banner" role="status">
      Your session has ended.{" "}
      <Button size="s" onClick={() => (overlay.value = "sign-in")}>
        Sign in
      </Button>
    </p>
  );
}
