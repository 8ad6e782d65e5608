import { strokeOf } from "./stroke.ts";
import type { ShownRun } from "./view.ts";

type RunListProps = {
  readonly runs: readonly ShownRun[];
  /** The place of the run that was chosen. */
  readonly chosen: number | undefined;
  readonly onChoose: (place: number | undefined) => void;
  /** Called with the place of the run that the reader points at; undefined: none. */
  readonly onPoint: (place: number | undefined) => void;
};

/** The list of runs, which is the legend of all charts. */
export function RunList({ runs, chosen, onChoose, onPoint }: RunListProps) {
  return (
    <ol aria-label="Runs">
      {runs.map(({ id, name, status }, place) => {
        const { color, dash } = strokeOf(place);
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
