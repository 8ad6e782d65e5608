import "../charts.css";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { COLOR_NAMES, DASHES } from "./palette.ts";
import { chooseLook, lineLook, ownLook } from "./run-look.ts";

type RunName = { readonly id: string; readonly name: string };

/** A dialog in which a person gives runs of a project a color and dashes of their choice; this browser remembers it. It shows the look of the first. */
export function LookPicker({
  projectId,
  runs,
  onClose,
}: {
  readonly projectId: string;
  readonly runs: readonly [RunName, ...RunName[]];
  readonly onClose: () => void;
}) {
  const [run] = runs;
  const look = lineLook(run.id);
  const own = ownLook(run.id);
  const choose = (chosen: Parameters<typeof chooseLook>[2]): void => {
    for (const { id } of runs) chooseLook(projectId, id, chosen);
  };
  return (
    <Dialog
      title={runs.length === 1 ? `Line of ${run.name}` : `Lines of ${runs.length} runs`}
      onClose={onClose}
      actions={
        <>
          <Button disabled={own === undefined} onClick={() => choose(undefined)}>
            Reset
          </Button>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div class="tm-look-picker" role="group" aria-label="Color">
        {COLOR_NAMES.map((name, place) => {
          const color = `var(--tm-run-${place})`;
          return (
            <button
              key={place}
              type="button"
              aria-label={name}
              title={name}
              aria-pressed={look.color === color}
              onClick={() => choose({ place, ...(own?.dash === undefined ? {} : { dash: own.dash }) })}
            >
              <Swatch color={color} dash={[]} />
            </button>
          );
        })}
        <label>
          Another color
          <input
            type="color"
            value={own?.color ?? "#808080"}
            onInput={(event) => choose({ ...own, color: event.currentTarget.value })}
          />
        </label>
      </div>
      <div class="tm-look-picker" role="group" aria-label="Pattern">
        {DASHES.map((dash, i) => (
          <button
            key={i}
            type="button"
            aria-label={dash.length === 0 ? "Solid" : `Dashes ${i}`}
            aria-pressed={look.dash === dash}
            onClick={() => choose({ ...own, dash: i })}
          >
            <Swatch color={look.color} dash={dash} />
          </button>
        ))}
      </div>
    </Dialog>
  );
}

/** A short piece of the line of a run, in its color and with its dashes: a legend shows it next to the name. */
export function RunSwatch({ runId }: { readonly runId: string }) {
  return <Swatch {...lineLook(runId)} />;
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
