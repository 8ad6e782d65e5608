import { useState } from "preact/hooks";
import type { RunDetail } from "../../../api/run-types.ts";
import { runAddress } from "../../../app/addresses.ts";
import { navigate } from "../../../app/location.tsx";
import { attempt } from "../../../ui/fault.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { forkRun } from "../run-actions.ts";

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
        hint="Left empty, it is named after this run."
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
        error={isWrong ? "A step is a number from 0 on." : undefined}
      />
    </Dialog>
  );
}
