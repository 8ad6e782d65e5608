import { runLook } from "./run-look.ts";
import "../charts.css";

/** A short piece of the line of a run, in its color and with its dashes: a legend shows it next to the name. */
export function RunSwatch({ runId }: { readonly runId: string }) {
  return <Swatch {...runLook(runId)} />;
}

/** A short piece of a line. */
export function Swatch({ color, dash }: { readonly color: string; readonly dash: readonly number[] }) {
  return (
    <svg class="tm-swatch" width="22" height="10" viewBox="0 0 22 10" aria-hidden="true">
      <line
        x1="1"
        x2="21"
        y1="5"
        y2="5"
        style={{ stroke: color }}
        stroke-width="2.5"
        stroke-dasharray={dash.length === 0 ? undefined : dash.join(" ")}
      />
    </svg>
  );
}
