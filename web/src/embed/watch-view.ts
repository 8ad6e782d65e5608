import { takeToken } from "../app/addresses.ts";
import { readView, type View } from "./view.ts";

/** What the page shows. */
type Shown = {
  /** Undefined until the first answer. */
  readonly view: View | undefined;
  /** When the data arrived, or why they did not. */
  readonly status: string;
  /** Why the view has ended; undefined while it goes on. */
  readonly ended: string | undefined;
  readonly isAsking: boolean;
};

/** A view that is read again and again. */
export type WatchedView = {
  /** Reads it now. */
  readonly refresh: () => void;
  readonly stop: () => void;
};

/** The state of a page that has just been opened. */
export const OPENED: Shown = { view: undefined, status: "Loading…", ended: undefined, isAsking: false };

/** Milliseconds that a request may take. */
const PATIENCE_MS = 30_000;

/**
 * Reads the runs of the embed session that the address names, with the token in its fragment, and calls `show` with each change of what the page shows.
 * Reads them again while the page is visible: more often while a run goes on, later after failures, and once when the session should have ended.
 */
export function watchView(show: (shown: Shown) => void): WatchedView {
  const sessionId = location.pathname.split("/").at(-1)!;
  /** Relative to this page, under any path of a proxy. */
  const address = new URL(`../../api/embed/sessions/${sessionId}/runs/data`, location.href);
  /** When the session is over, with a second for clocks that differ. */
  const endMs = performance.now() + Number(document.documentElement.dataset["lastsMs"]) + 1000;
  let token = takeToken();
  let shown = OPENED;
  let failures = 0;
  let nextMs = Infinity;

  const change = (changes: Partial<Shown>): void => {
    shown = { ...shown, ...changes };
    show(shown);
  };
  /** Plans the next request, no later than the end of the session. */
  const plan = (seconds: number): void => {
    const nowMs = performance.now();
    nextMs = nowMs + seconds * 1000;
    if (endMs > nowMs) nextMs = Math.min(nextMs, endMs);
  };
  const end = (ended: string): void => change({ view: undefined, status: "", ended });
  const succeed = (text: string): void => {
    const view = readView(JSON.parse(text));
    failures = 0;
    plan(refreshSeconds(view.runs));
    change({
      view: isSame(view, shown.view) ? shown.view : view,
      status: `Updated ${new Date().toLocaleTimeString()}`,
    });
  };
  const fail = (answer: Response | undefined): void => {
    const outcome = outcomeOf(answer?.status, answer?.headers.get("retry-after") ?? null, failures);
    failures += 1;
    if (outcome.isOver) {
      end(outcome.text);
      return;
    }
    const { text, waitSeconds } = outcome;
    if (waitSeconds !== undefined) plan(waitSeconds);
    change({ status: waitSeconds === undefined ? text : `${text} Next attempt in ${waitSeconds} s.` });
  };
  const refresh = async (reason: string): Promise<void> => {
    if (shown.ended !== undefined || shown.isAsking) return;
    change({ isAsking: true });
    nextMs = Infinity;
    let answer: Response | undefined;
    try {
      answer = await fetch(address, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ refresh_reason: reason }),
        credentials: "omit",
        cache: "no-store",
        referrerPolicy: "no-referrer",
        redirect: "error",
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      if (answer.ok) succeed(await answer.text());
      else fail(answer);
    } catch {
      // Nothing arrived, or not all of the answer, or it is not JSON.
      fail(answer?.ok === true ? undefined : answer);
    }
    change({ isAsking: false });
  };
  /** Requests new data when they are due and the page is visible. */
  const tick = (): void => {
    if (document.visibilityState === "visible" && performance.now() >= nextMs) void refresh("timer");
  };
  const onToken = (): void => {
    const given = takeToken();
    if (given === undefined) return;
    token = given;
    shown = { ...shown, ended: undefined };
    void refresh("token");
  };

  addEventListener("hashchange", onToken);
  document.addEventListener("visibilitychange", tick);
  const timer = setInterval(tick, 1000);
  if (token === undefined) end("The address of this view has no access token. Open the page that shows the view.");
  else void refresh("open");
  return {
    refresh: () => void refresh("button"),
    stop: () => {
      removeEventListener("hashchange", onToken);
      document.removeEventListener("visibilitychange", tick);
      clearInterval(timer);
    },
  };
}

/** What has not changed stays, with what the reader has chosen and scrolled to. */
function isSame(view: View, before: View | undefined): boolean {
  return JSON.stringify(view) === JSON.stringify(before);
}

/** What a request that returned no data means for the page. */
type Outcome = {
  /** For the reader. */
  readonly text: string;
  /** Whether the page may not show these runs any more. */
  readonly isOver: boolean;
  /** Seconds until the next attempt; undefined: there is none. */
  readonly waitSeconds: number | undefined;
};

/** Seconds until the first attempt after a failure, doubled with each further one up to the highest. */
const RETRY_SECONDS = { first: 5, max: 60 } as const;

/**
 * Says what an answer means: its status, undefined where none arrived, and the value of its `Retry-After`. `failures` counts those in a row before this one.
 */
export function outcomeOf(status: number | undefined, retryAfter: string | null, failures: number): Outcome {
  const backOff = Math.min(RETRY_SECONDS.max, RETRY_SECONDS.first * 2 ** failures);
  const asked = Number(retryAfter);
  const waitSeconds = retryAfter !== null && asked >= 1 ? Math.ceil(asked) : backOff;
  switch (status) {
    case 401:
      return over("This embedded view has ended. Reload the page that shows it.");
    case 403:
      return over("This embedded view was revoked: the API key that created it is no longer valid.");
    case 404:
      return over("The runs of this embedded view no longer exist.");
    case 400:
    case 413:
      return { text: "These runs have more data than can be shown here.", isOver: false, waitSeconds: undefined };
    case 429:
      return { text: "Too many requests.", isOver: false, waitSeconds };
    case undefined:
      return { text: "The server cannot be reached.", isOver: false, waitSeconds };
    default:
      return { text: `The data could not be loaded (status ${status}).`, isOver: false, waitSeconds };
  }
}

function over(text: string): Outcome {
  return { text, isOver: true, waitSeconds: undefined };
}

/** Seconds between two refreshes while a run is going on, and when none is. */
const REFRESH_SECONDS = { running: 30, ended: 300 } as const;

/** Returns the seconds until the next refresh. */
export function refreshSeconds(runs: readonly { readonly status: string }[]): number {
  return runs.some(({ status }) => status === "running") ? REFRESH_SECONDS.running : REFRESH_SECONDS.ended;
}
