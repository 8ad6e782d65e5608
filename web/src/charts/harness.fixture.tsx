import { signal } from "@preact/signals";
import { render } from "preact";
import "../styles/tokens.css";
import "../styles/base.css";
import "../app/theme.ts";
import { startKeys } from "../app/keys.ts";
import { ChartSection, RunSwatch, type ChartRun } from "./index.ts";

/** The input that a test of charts puts into the page, as JSON in an element. */
type Given = {
  readonly project: { readonly id: string; readonly name: string };
  readonly runs: readonly ChartRun[];
  readonly live: boolean;
};

const given = JSON.parse(document.querySelector("#given")!.textContent) as Given;
const runs = signal(given.runs);

/** Charts of some runs with their legend, which can be turned around and shortened. */
function Harness() {
  return (
    <main>
      <h1>Charts</h1>
      <button type="button" onClick={() => (runs.value = runs.value.toReversed())}>
        Turn around
      </button>
      <button type="button" onClick={() => (runs.value = runs.value.slice(1))}>
        Leave out first
      </button>
      <ul>
        {runs.value.map(({ id, name }) => (
          <li key={id} data-run={id}>
            <RunSwatch runId={id} /> {name}
          </li>
        ))}
      </ul>
      <ChartSection project={given.project} runs={runs.value} live={given.live} />
    </main>
  );
}

startKeys();
render(<Harness />, document.querySelector("#app")!);
