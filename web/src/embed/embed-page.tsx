import { useEffect, useRef, useState } from "preact/hooks";
import { RunChart } from "./run-chart.tsx";
import { RunList } from "./run-list.tsx";
import type { View } from "./view.ts";
import { OPENED, watchView, type WatchedView } from "./watch-view.ts";

/** The page of an embed session: the runs, which are the legend of all charts, and a chart of each metric. */
export function EmbedPage() {
  const [{ view, status, ended, isAsking }, setShown] = useState(OPENED);
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
        {view !== undefined && <Runs key={JSON.stringify(view.runs)} {...view} />}
      </main>
    </>
  );
}

/** The runs and their charts; runs that changed are shown as new ones. */
function Runs({ runs, charts }: View) {
  const [chosen, setChosen] = useState<number | undefined>(undefined);
  const [pointed, setPointed] = useState<number | undefined>(undefined);
  return (
    <>
      <nav id="runs">
        <RunList runs={runs} chosen={chosen} onChoose={setChosen} onPoint={setPointed} />
      </nav>
      <div id="charts">
        {charts.length === 0 && <p class="message">No data: these runs have no metrics yet.</p>}
        {charts.map((chart) => (
          <RunChart key={chart.key} chart={chart} runs={runs} highlight={pointed ?? chosen} />
        ))}
      </div>
    </>
  );
}
