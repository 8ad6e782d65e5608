import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import "./style.css";
import { RunChart } from "./run-chart.tsx";
import { strokeOf } from "./picture.ts";
import type { ShownRun, View } from "./view.ts";
import { OPENED, watchView, type WatchedView } from "./watch-view.ts";

/** Where the system forces its colors, only dashes tell lines apart. */
const FORCED = matchMedia("(forced-colors: active)");

/** The page of an embed session: the runs, which are the legend of all charts, and a chart of each metric. */
function EmbedPage() {
  const [{ view, status, ended, isAsking }, setShown] = useState(OPENED);
  const [hasPatterns, setPatterns] = useState(FORCED.matches);
  const watched = useRef<WatchedView | undefined>(undefined);
  useEffect(() => {
    watched.current = watchView(setShown);
    return () => watched.current?.stop();
  }, []);
  return (
    <>
      <header>
        <h1>Runs</h1>
        <p id="status" role="status">
          {status}
        </p>
        {view !== undefined && (
          <button type="button" aria-pressed={hasPatterns} onClick={() => setPatterns(!hasPatterns)}>
            Patterns on lines
          </button>
        )}
        {ended === undefined && (
          // A button that is disabled would lose the focus.
          <button
            type="button"
            id="again"
            aria-disabled={isAsking ? "true" : undefined}
            onClick={() => watched.current?.refresh()}
          >
            Refresh
          </button>
        )}
      </header>
      <main>
        {ended !== undefined && (
          <p class="message" role="alert">
            {ended}
          </p>
        )}
        {view !== undefined && <Runs key={JSON.stringify(view.runs)} {...view} hasPatterns={hasPatterns} />}
      </main>
    </>
  );
}

/** The runs and their charts; runs that changed are shown as new ones. */
function Runs({ runs, charts, hasPatterns }: View & { readonly hasPatterns: boolean }) {
  const [chosen, setChosen] = useState<number | undefined>(undefined);
  const [pointed, setPointed] = useState<number | undefined>(undefined);
  return (
    <>
      <nav id="runs">
        <RunList runs={runs} hasPatterns={hasPatterns} chosen={chosen} onChoose={setChosen} onPoint={setPointed} />
      </nav>
      <div id="charts">
        {charts.length === 0 && <p class="message">No data: these runs have no metrics yet.</p>}
        {charts.map((chart) => (
          <RunChart key={chart.key} chart={chart} runs={runs} highlight={pointed ?? chosen} hasPatterns={hasPatterns} />
        ))}
      </div>
    </>
  );
}

type RunListProps = {
  readonly runs: readonly ShownRun[];
  /** Whether runs differ in their dashes as well as in their colors. */
  readonly hasPatterns: boolean;
  /** The place of the run that was chosen. */
  readonly chosen: number | undefined;
  readonly onChoose: (place: number | undefined) => void;
  /** Called with the place of the run that the reader points at; undefined: none. */
  readonly onPoint: (place: number | undefined) => void;
};

/** The list of runs, which is the legend of all charts. */
function RunList({ runs, hasPatterns, chosen, onChoose, onPoint }: RunListProps) {
  return (
    <ol aria-label="Runs">
      {runs.map(({ id, name, status }, place) => {
        const { color, dash } = strokeOf(place, hasPatterns);
        return (
          <li key={id}>
            <button
              type="button"
              class="run"
              aria-pressed={place === chosen}
              title={name}
              onPointerEnter={() => onPoint(place)}
              onPointerLeave={() => onPoint(undefined)}
              onClick={() => {
                onChoose(place === chosen ? undefined : place);
                onPoint(undefined);
              }}
            >
              <svg width="36" height="12" aria-hidden="true">
                <line class={`sample c${color}`} x1="2" x2="34" y1="6" y2="6" stroke-dasharray={dash} />
              </svg>
              <span class="name">{name}</span>
              <span class="status">{status}</span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}

render(<EmbedPage />, document.querySelector("#app")!);
