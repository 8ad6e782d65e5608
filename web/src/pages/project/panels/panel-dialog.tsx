import { useState } from "preact/hooks";
import { emptyPanel, isWhole, PanelFields } from "../../../panels/panel-fields.tsx";
import { PANELS_MAX, type RunsPanel } from "../../../panels/panel.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";

/** Chooses what a chart shows. */
export function PanelDialog({
  title,
  projectId,
  panel: before,
  isFull = false,
  onSave,
  onClose,
}: {
  readonly title: string;
  readonly projectId: string;
  /** The chart that changes; a new one without it. */
  readonly panel?: RunsPanel;
  /** No more charts can be added. */
  readonly isFull?: boolean;
  readonly onSave: (panel: RunsPanel) => void;
  readonly onClose: () => void;
}) {
  const [panel, setPanel] = useState(before ?? emptyPanel("bar"));
  const [isTried, setTried] = useState(false);
  const save = (): void => {
    setTried(true);
    if (isFull || !isWhole(panel)) return;
    onSave(panel);
    onClose();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={save}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit">
            {before === undefined ? "Add" : "Save"}
          </Button>
        </>
      }
    >
      <div class="tm-chart-settings">
        <PanelFields projectId={projectId} panel={panel} isEager onChange={setPanel} />
      </div>
      {isFull && <p role="alert">{`A project page has at most ${PANELS_MAX} added charts.`}</p>}
      {isTried && !isWhole(panel) && (
        <p class="tm-fault" role="alert">
          Choose what the chart shows.
        </p>
      )}
    </Dialog>
  );
}
