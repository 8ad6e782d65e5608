import { createChart, type Chart } from "./chart.ts";
import { html } from "./elements.ts";
import { outcomeOf, refreshSeconds } from "./outcome.ts";
import { createRunList } from "./run-list.ts";
import { readView, type View } from "./view.ts";

/** Milliseconds that a request may take. */
const PATIENCE_MS = 30_000;

const status = document.querySelector("#status")!;
const again = document.querySelector<HTMLElement>("#again")!;
const list = document.querySelector("#runs")!;
const plots = document.querySelector("#charts")!;
const sessionId = location.pathname.split("/").at(-1)!;
/** Relative to this page, under any path of a proxy. */
const address = new URL(`../../api/embed/sessions/${sessionId}/runs/data`, location.href);

/** When the session is over, with a second for clocks that differ. */
const endMs = performance.now() + Number(document.documentElement.dataset["lastsMs"]) + 1000;

let token = takeToken();
let charts: readonly Chart[] = [];
let shownRuns = "";
let shownCharts = "";
/** The run whose lines stand out. */
let pointed: number | undefined;
let failures = 0;
let isOver = false;
let isAsking = false;
let nextMs = Infinity;

/** Takes the token out of the address, so that neither the history nor a copied address contains it. */
function takeToken(): string | null {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (location.hash !== "") history.replaceState(null, "", location.pathname + location.search);
  return found;
}

async function refresh(reason: string): Promise<void> {
  if (isOver || isAsking) return;
  isAsking = true;
  // A button that is disabled would lose the focus.
  again.ariaDisabled = "true";
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
    fail(answer?.ok === true ? undefined : answer);
  }
  isAsking = false;
  again.ariaDisabled = null;
}

function succeed(text: string): void {
  const view = readView(JSON.parse(text));
  failures = 0;
  say(`Updated ${new Date().toLocaleTimeString()}`);
  plan(refreshSeconds(view.runs));
  show(view);
}

function fail(answer: Response | undefined): void {
  const {
    text,
    isOver: ends,
    waitSeconds,
  } = outcomeOf(answer?.status, answer?.headers.get("retry-after") ?? null, failures);
  failures += 1;
  if (ends) {
    end(text);
    return;
  }
  say(waitSeconds === undefined ? text : `${text} Next attempt in ${waitSeconds} s.`);
  if (waitSeconds !== undefined) plan(waitSeconds);
}

/** Shows a text instead of the runs, until there is another token. */
function end(text: string): void {
  isOver = true;
  charts = [];
  [shownRuns, shownCharts] = ["", ""];
  say("");
  again.hidden = true;
  list.replaceChildren();
  plots.replaceChildren(html("p", { class: "message", role: "alert" }, text));
}

function say(text: string): void {
  status.textContent = text;
}

/** Plans the next request, no later than the end of the session. */
function plan(seconds: number): void {
  const nowMs = performance.now();
  nextMs = nowMs + seconds * 1000;
  if (endMs > nowMs) nextMs = Math.min(nextMs, endMs);
}

/** Shows what has changed; the rest stays, with what the reader has chosen and scrolled to. */
function show({ runs, charts: wanted }: View): void {
  const [newRuns, newCharts] = [JSON.stringify(runs), JSON.stringify(wanted)];
  if (newRuns !== shownRuns) {
    pointed = undefined;
    list.replaceChildren(createRunList(runs, point));
  }
  if (newRuns !== shownRuns || newCharts !== shownCharts) {
    charts = wanted.map((chart) => createChart(chart, runs));
    const nothing = html("p", { class: "message" }, "No data: these runs have no metrics yet.");
    plots.replaceChildren(...(charts.length === 0 ? [nothing] : charts.map(({ element }) => element)));
    draw();
  }
  [shownRuns, shownCharts] = [newRuns, newCharts];
}

/** Lets the lines of a run stand out; undefined: none. */
function point(place: number | undefined): void {
  pointed = place;
  plots.classList.toggle("is-pointing", place !== undefined);
  for (const line of plots.querySelectorAll(".is-pointed")) line.classList.remove("is-pointed");
  if (place === undefined) return;
  for (const line of plots.querySelectorAll(`[data-run="${place}"]`)) line.classList.add("is-pointed");
}

function draw(): void {
  for (const chart of charts) chart.draw();
  point(pointed);
}

/** Requests new data when they are due and the page is visible. */
function tick(): void {
  if (document.visibilityState === "visible" && performance.now() >= nextMs) void refresh("timer");
}

function begin(): void {
  if (token === null) end("The address of this view lacks its token. Open the page that shows it.");
  else void refresh("open");
}

let width = plots.clientWidth;
// Scroll bars change it as well as the window does.
new ResizeObserver(() => {
  if (plots.clientWidth === width) return;
  width = plots.clientWidth;
  draw();
}).observe(plots);
addEventListener("hashchange", () => {
  const given = takeToken();
  if (given === null) return;
  token = given;
  isOver = false;
  again.hidden = false;
  void refresh("token");
});
document.addEventListener("visibilitychange", tick);
again.addEventListener("click", () => void refresh("button"));
setInterval(tick, 1000);
begin();
