import { useId, useState } from "preact/hooks";
import { useQuery } from "../../../api/use-answer.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { attempt } from "../../../ui/fault.ts";
import { TextField } from "../../../ui/field.tsx";
import { ErrorNote } from "../../../ui/page-states.tsx";
import { toast } from "../../../ui/toast.tsx";
import { counted } from "../../../ui/words.ts";
import { transferRuns, type Transfer, type Transferred, type TransferredRuns } from "./transfer-calls.ts";

type ProjectList = { readonly projects: readonly { readonly name: string }[]; readonly total: number };

const WORDS: Readonly<Record<Transfer, { title: string; verb: string; done: string; note: string }>> = {
  move: {
    title: "Move to another project",
    verb: "Move",
    done: "Moved",
    note: "All logged data moves with the runs. Artifact versions stay in their collections.",
  },
  copy: {
    title: "Copy to a project",
    verb: "Copy",
    done: "Copied",
    note: "The copies are new runs with all logged data. They appear when they are complete.",
  },
};

/** Asks for the project that runs are moved or copied to, does so, and offers to move moved ones back. */
export function TransferDialog({
  how,
  project,
  runs,
  count,
  onClose,
  onDone,
}: {
  readonly how: Transfer;
  /** The project that they are in. */
  readonly project: string;
  readonly runs: TransferredRuns;
  readonly count: number;
  readonly onClose: () => void;
  /** Gets the name of the project that they, or the copies, are in now, also after they were moved back. */
  readonly onDone: (project: string) => void;
}) {
  const [name, setName] = useState("");
  const [done, setDone] = useState<number | undefined>();
  const [fault, setFault] = useState<unknown>();
  const listId = useId();
  // Without them the name can still be typed.
  const { data } = useQuery<ProjectList>("/projects?limit=1000");
  const target = name.trim();
  const words = WORDS[how];
  const offered = (data?.projects ?? []).filter((one) => how === "copy" || one.name !== project);
  const isWhole = data !== undefined && data.total === data.projects.length;
  const isNew = isWhole && target !== "" && !data.projects.some((one) => one.name === target);
  const isHere = how === "move" && target === project;
  const transfer = async (): Promise<void> => {
    if (target === "" || isHere) return;
    setDone(0);
    setFault(undefined);
    try {
      const transferred = await transferRuns(how, runs, target, setDone);
      tell(how, transferred, target, () => void attempt(() => moveBack(transferred)));
      onClose();
      onDone(target);
    } catch (error) {
      setFault(error);
      setDone(undefined);
    }
  };
  const moveBack = async ({ ids }: Transferred): Promise<void> => {
    await transferRuns("move", { ids }, project, () => undefined);
    onDone(project);
  };
  return (
    <Dialog
      title={words.title}
      onClose={onClose}
      onSubmit={() => void transfer()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={done !== undefined} disabled={target === "" || isHere}>
            {`${words.verb} ${counted(count, "run")}`}
          </Button>
        </>
      }
    >
      <p>{words.note}</p>
      <TextField
        label="Project"
        list={listId}
        autofocus
        value={name}
        onInput={setName}
        maxLength={512}
        error={isHere ? "The runs are in this project." : undefined}
        hint={isNew ? "This project does not exist yet. It will be created." : undefined}
      />
      <datalist id={listId}>
        {offered.map((one) => (
          <option key={one.name} value={one.name} />
        ))}
      </datalist>
      {done !== undefined && (
        <>
          <p role="status">{`${done} of ${count} done`}</p>
          <progress aria-label="Progress" max={count} value={done} />
        </>
      )}
      <ErrorNote error={fault} />
    </Dialog>
  );
}

function tell(how: Transfer, { ids, failed }: Transferred, target: string, undo: () => void): void {
  const { done } = WORDS[how];
  const failures = failed === 0 ? "" : ` ${counted(failed, "run")} could not be ${done.toLowerCase()}.`;
  const isUndoable = how === "move" && ids.length > 0;
  toast(`${done} ${counted(ids.length, "run")} to ${target}.${failures}`, isUndoable ? { undo } : {});
}
