import { useEffect, useState } from "preact/hooks";
import type { RunDetail } from "../../../api/run-types.ts";
import { attempt } from "../../../ui/fault.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { ErrorNote } from "../../../ui/page-states.tsx";
import { byteWords, countWords } from "../../../ui/words.ts";
import { Skeleton } from "../../../ui/spinner.tsx";
import { countDeletion, deleteRun, type DeletionCounts } from "../run-actions.ts";

/** Asks before a run is deleted, and lists what is deleted with it. */
export function DeleteDialog({
  run,
  onClose,
  onDeleted,
  onRestored,
}: {
  readonly run: RunDetail;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
  readonly onRestored: () => void;
}) {
  const [counted, setCounted] = useState<DeletionCounts>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    countDeletion(run.id).then(setCounted, setError);
  }, [run.id]);
  const remove = async (): Promise<void> => {
    setBusy(true);
    await attempt(() => deleteRun(run.id, run.name, onDeleted, onRestored));
    setBusy(false);
  };
  const things = Object.entries(counted?.counts ?? {}).filter(([name, count]) => count > 0 && name !== "runs");
  return (
    <Dialog
      title={`Delete ${run.name}?`}
      onClose={onClose}
      onSubmit={() => void remove()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" type="submit" busy={isBusy}>
            Delete run
          </Button>
        </>
      }
    >
      <p>
        The run can be restored for 30 days. After that it is removed permanently. Artifact versions that it created
        stay.
      </p>
      <ErrorNote error={error} />
      {counted === undefined && error === undefined && <Skeleton lines={2} />}
      {counted !== undefined && (
        <p>
          With it go{" "}
          {things.length === 0
            ? "no logged data"
            : things.map(([name, count]) => `${countWords(count)} ${name}`).join(", ")}
          {counted.bytes > 0 && ` (${byteWords(counted.bytes)})`}.
        </p>
      )}
    </Dialog>
  );
}
