import { useEffect, useState } from "preact/hooks";
import type { RunDetail } from "../../../api/run-types.ts";
import { runAddress } from "../../../app/addresses.ts";
import { navigate } from "../../../app/location.tsx";
import { attempt } from "../../../ui/fault.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { ErrorNote } from "../../../ui/page-states.tsx";
import { byteWords, countWords } from "../../../ui/words.ts";
import { Skeleton } from "../../../ui/spinner.tsx";
import { countDeletion, deleteRun, forkRun, type DeletionCounts } from "../run-actions.ts";

/** Makes a child of a run, to which a new training can attach. */
export function ForkDialog({ run, onClose }: { readonly run: RunDetail; readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [step, setStep] = useState("");
  const [isBusy, setBusy] = useState(false);
  const at = step.trim() === "" ? undefined : Number(step);
  const isWrong = at !== undefined && !(Number.isFinite(at) && at >= 0);
  const fork = async (): Promise<void> => {
    if (isWrong) return;
    setBusy(true);
    await attempt(async () => {
      const options = {
        ...(name.trim() === "" ? {} : { name: name.trim() }),
        ...(at === undefined ? {} : { step: at }),
      };
      const child = await forkRun(run.id, options);
      onClose();
      navigate(runAddress(run.project, child, "overview"));
    });
    setBusy(false);
  };
  return (
    <Dialog
      title="Fork this run"
      onClose={onClose}
      onSubmit={() => void fork()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            Fork run
          </Button>
        </>
      }
    >
      <p>
        The fork is a new run with the same config, linked to this one. Attach a training to it by its id; it does not
        start one.
      </p>
      <TextField
        label="Name"
        hint="If empty, the fork is named after this run."
        value={name}
        onInput={setName}
        maxLength={512}
        autofocus
      />
      <TextField
        label="From step"
        hint="Optional"
        value={step}
        onInput={setStep}
        error={isWrong ? "A step is a whole number, 0 or greater." : undefined}
      />
    </Dialog>
  );
}

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
          This deletes{" "}
          {things.length === 0
            ? "no logged data"
            : things.map(([name, count]) => `${countWords(count)} ${name}`).join(", ")}
          {counted.bytes > 0 && ` (${byteWords(counted.bytes)})`}.
        </p>
      )}
    </Dialog>
  );
}
