import { useEffect, useState } from "preact/hooks";
import type { RunDetail } from "../../../api/run-types.ts";
import { useKeys } from "../../../app/keys.ts";
import { attempt } from "../../../ui/fault.ts";
import { Button } from "../../../ui/button.tsx";
import { classes } from "../../../ui/class-names.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { absoluteTime } from "../../../ui/words.ts";
import { requestStop } from "../run-actions.ts";
import { stopWords } from "./stop-words.ts";

/** Asks a run to stop. */
export function StopControl({
  run,
  canControl,
  reload,
}: {
  readonly run: RunDetail;
  readonly canControl: boolean;
  readonly reload: () => void;
}) {
  const [isAsking, setAsking] = useState(false);
  const [reason, setReason] = useState("");
  const [isBusy, setBusy] = useState(false);
  const canStop = canControl && run.run_control.display_status === "running";
  const ask = (): void => setAsking(true);
  useKeys(canStop ? { s: { label: "Stop the run", run: ask } } : {}, {
    label: "Run",
    actions: canStop ? [{ label: "Stop this run…", icon: "stop", run: ask }] : [],
  });
  const stop = async (): Promise<void> => {
    setBusy(true);
    await attempt(
      () => requestStop(run.id, reason),
      () => {
        setAsking(false);
        reload();
      },
    );
    setBusy(false);
  };
  return (
    <>
      {canStop && (
        <Button icon="stop" onClick={ask}>
          Stop
        </Button>
      )}
      {isAsking && canStop && (
        <Dialog
          title="Stop this run?"
          onClose={() => setAsking(false)}
          onSubmit={() => void stop()}
          actions={
            <>
              <Button onClick={() => setAsking(false)}>Cancel</Button>
              <Button kind="danger" type="submit" busy={isBusy}>
                Stop run
              </Button>
            </>
          }
        >
          <p>
            The training process is told at its next poll and decides how it ends, for example after it saved a
            checkpoint. This page shows when it acknowledges and when it has stopped.
          </p>
          <TextField
            label="Reason"
            hint="Optional; the training process and your team can read it."
            value={reason}
            onInput={setReason}
            maxLength={512}
            autofocus
          />
        </Dialog>
      )}
    </>
  );
}

/** How far a stop has come: asked, acknowledged by the training, stopped. Nothing for a run that was never asked to stop. */
export function StopState({ run }: { readonly run: RunDetail }) {
  const { run_control: control } = run;
  const isMoving = control.display_status === "stopping";
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    if (!isMoving) return undefined;
    const timer = setInterval(() => !document.hidden && setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isMoving, control]);
  const words = stopWords(control, now);
  if (words === undefined) return null;
  return (
    <div class={classes("tm-stop", `tm-stop-${words.tone}`)}>
      <ol class="tm-stop-steps" aria-label="Progress of the stop">
        {words.steps.map(({ name, at }) => (
          <li
            key={name}
            class={at === null ? "" : "tm-stop-done"}
            title={at === null ? "Not yet" : absoluteTime(Date.parse(at))}
          >
            {name}
            <span class="tm-hidden">{at === null ? ": not yet" : ": done"}</span>
          </li>
        ))}
      </ol>
      <p>
        {words.sentence}
        {typeof control.reason === "string" && ` Reason: ${control.reason}`}
        {typeof control.completion_message === "string" && ` The training says: ${control.completion_message}`}
      </p>
      {/* The age ticks each second; only the state is announced. */}
      <span class="tm-hidden" role="status">
        {`Stop: ${words.steps.findLast(({ at }) => at !== null)?.name ?? "none"}`}
      </span>
    </div>
  );
}
