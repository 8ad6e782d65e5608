import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { PALETTE, DASHES } from "./palette.ts";
import { chooseLook, ownLook, runLook } from "./run-look.ts";
import { Swatch } from "./run-swatch.tsx";

/** A dialog in which a person gives a run of a project a color and dashes of their choice; this browser remembers it. */
export function LookPicker({
  projectId,
  run,
  onClose,
}: {
  readonly projectId: string;
  readonly run: { readonly id: string; readonly name: string };
  readonly onClose: () => void;
}) {
  const look = runLook(run.id);
  const own = ownLook(run.id);
  return (
    <Dialog
      title={`Line of ${run.name}`}
      onClose={onClose}
      actions={
        <>
          <Button disabled={own === undefined} onClick={() => chooseLook(projectId, run.id, undefined)}>
            Reset
          </Button>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div class="tm-look-picker" role="group" aria-label="Color">
        {PALETTE.light.map((_, place) => {
          const color = `var(--tm-run-${place})`;
          return (
            <button
              key={place}
              type="button"
              aria-label={`Color ${place + 1}`}
              aria-pressed={look.color === color}
              onClick={() =>
                chooseLook(projectId, run.id, { place, ...(own?.dash === undefined ? {} : { dash: own.dash }) })
              }
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
            onInput={(event) => chooseLook(projectId, run.id, { ...own, color: event.currentTarget.value })}
          />
        </label>
      </div>
      <div class="tm-look-picker" role="group" aria-label="Dashes">
        {DASHES.map((dash, i) => (
          <button
            key={i}
            type="button"
            aria-label={dash.length === 0 ? "Without gaps" : `Dashes ${i}`}
            aria-pressed={look.dash === dash}
            onClick={() => chooseLook(projectId, run.id, { ...own, dash: i })}
          >
            <Swatch color={look.color} dash={dash} />
          </button>
        ))}
      </div>
    </Dialog>
  );
}
