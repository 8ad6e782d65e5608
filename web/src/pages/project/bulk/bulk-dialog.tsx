import { useEffect, useState } from "preact/hooks";
import { deleteOrRestore } from "../../../api/deletions.ts";
import { may } from "../../../api/session.ts";
import { trashAddress } from "../../../app/addresses.ts";
import { Link } from "../../../app/location.tsx";
import { attempt } from "../../../ui/fault.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { ErrorNote } from "../../../ui/page-states.tsx";
import { counted } from "../../../ui/words.ts";
import { TextField } from "../../../ui/field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { ACTION_WORDS, countChanges, doSteps, readMatching, stopRuns } from "./bulk-calls.ts";
import { changedBy, stepsOf, undoStepsOf, type BulkAction, type BulkRun } from "./bulk.ts";

/** Says how many runs an action changes before it is done, and how far it has come. */
export function BulkDialog({
  kind,
  projectId,
  chosen,
  q,
  onClose,
  onDone,
}: {
  readonly kind: BulkAction["kind"];
  readonly projectId: string;
  /** The selected runs; undefined for all that the search finds. */
  readonly chosen: readonly BulkRun[] | undefined;
  readonly q: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const [runs, setRuns] = useState(chosen);
  const [text, setText] = useState("");
  const [count, setCount] = useState<{ text: string } | undefined>();
  const [done, setDone] = useState<number | undefined>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (runs !== undefined) return undefined;
    const ending = new AbortController();
    readMatching(projectId, q, ending.signal).then(
      setRuns,
      (fault: unknown) => !ending.signal.aborted && setError(fault),
    );
    return () => ending.abort();
  }, []);
  const [title, verb, past] = ACTION_WORDS[kind];
  const action = actionOf(kind, text.trim());
  const changed = runs === undefined || action === undefined ? undefined : changedBy(action, runs);
  const names = changed?.map(({ id }) => id).join() ?? "";
  const isFields = kind !== "stop" && kind !== "delete";
  useEffect(() => {
    setCount(undefined);
    if (action === undefined || changed === undefined) return undefined;
    let isOld = false;
    const timer = setTimeout(() => {
      const counting =
        isFields && changed.length > 0
          ? countChanges(stepsOf(action, changed))
          : Promise.resolve({ matched: changed.length, failed: 0 });
      counting.then(
        ({ matched, failed }) => {
          const failures = failed === 0 ? "" : ` ${counted(failed, "run")} cannot be changed.`;
          if (!isOld)
            setCount({
              text: `This changes ${counted(matched - failed, "run")} of ${counted(runs!.length, "run")}.${failures}`,
            });
        },
        (fault: unknown) => !isOld && setError(fault),
      );
    }, 250);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [text, names]);

  const act = async (): Promise<void> => {
    if (action === undefined || changed === undefined || changed.length === 0) return;
    setDone(0);
    setError(undefined);
    try {
      await perform(action, changed, setDone, past, onDone);
      onDone();
      onClose();
    } catch (fault) {
      setError(fault);
      setDone(undefined);
      onDone();
    }
  };
  const isDanger = kind === "delete" || kind === "stop" || kind === "end";
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => void act()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind={isDanger ? "danger" : "primary"}
            type="submit"
            busy={done !== undefined}
            disabled={changed === undefined || changed.length === 0}
          >
            {verb}
          </Button>
        </>
      }
    >
      {kind === "delete" && (
        <p>
          Deleted runs disappear from all lists immediately. They can be restored for 30 days
          {may("people") && (
            <>
              {" "}
              from the <Link href={trashAddress(projectId)}>trash</Link>
            </>
          )}
          .
        </p>
      )}
      {kind === "stop" && (
        <p>
          The training processes are told at their next poll. The table shows when each acknowledges and when it has
          stopped.
        </p>
      )}
      {kind === "end" && (
        <p>
          Selected runs that no longer report are marked as failed. A training that is still alive can resume its run.
        </p>
      )}
      {kind.endsWith("tag") && <TextField label="Tag" value={text} onInput={setText} maxLength={256} autofocus />}
      {kind === "notes" && (
        <TextField
          label="Notes"
          hint="Replaces the current notes. Leave empty to remove them."
          rows={4}
          value={text}
          onInput={setText}
        />
      )}
      <p role="status">
        {done !== undefined ? `${done} of ${changed?.length ?? 0} done` : (count?.text ?? "Counting…")}
      </p>
      {done !== undefined && <progress aria-label="Progress" max={changed?.length ?? 1} value={done} />}
      <ErrorNote error={error} />
    </Dialog>
  );
}

function actionOf(kind: BulkAction["kind"], text: string): BulkAction | undefined {
  if (kind === "add-tag" || kind === "remove-tag") return text === "" ? undefined : { kind, tag: text };
  return kind === "notes" ? { kind, notes: text } : { kind };
}

async function perform(
  action: BulkAction,
  runs: readonly BulkRun[],
  progress: (done: number) => void,
  past: string,
  onDone: () => void,
): Promise<void> {
  const ids = runs.map(({ id }) => id);
  if (action.kind === "delete") {
    const deleted = await deleteOrRestore("runs", ids, "delete", progress);
    const restore = (): void =>
      void attempt(async () => void (await deleteOrRestore("runs", deleted.ids, "restore")), onDone);
    tell(past, deleted.ids.length, ids.length, restore);
  } else if (action.kind === "stop") {
    tell(past, ids.length - (await stopRuns(runs, progress)), ids.length);
  } else {
    const failed = await doSteps(stepsOf(action, runs), progress);
    const undo = (): void =>
      void attempt(async () => void (await doSteps(undoStepsOf(action, runs), () => undefined)), onDone);
    tell(past, ids.length - failed, ids.length, action.kind === "end" ? undefined : undo);
  }
}

function tell(past: string, worked: number, all: number, undo?: () => void): void {
  const failures = worked === all ? "" : ` ${counted(all - worked, "run")} could not be changed.`;
  toast(`${past} ${counted(worked, "run")}.${failures}`, undo === undefined ? {} : { undo });
}
