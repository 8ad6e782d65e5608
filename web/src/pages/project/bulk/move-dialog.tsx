import { useId, useState } from "preact/hooks";
import { useQuery } from "../../../api/use-answer.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { attempt } from "../../../ui/fault.ts";
import { TextField } from "../../../ui/field.tsx";
import { ErrorNote } from "../../../ui/page-states.tsx";
import { toast } from "../../../ui/toast.tsx";
import { counted } from "../../../ui/words.ts";
import { moveRuns, type Moved, type MovedRuns } from "./move-calls.ts";

type ProjectList = { readonly projects: readonly { readonly name: string }[]; readonly total: number };

/** Asks for the project that runs are moved to, moves them, and offers to move them back. */
export function MoveDialog({
  project,
  runs,
  count,
  onClose,
  onMoved,
}: {
  /** The project that they are in. */
  readonly project: string;
  readonly runs: MovedRuns;
  readonly count: number;
  readonly onClose: () => void;
  /** Gets the name of the project that they are in now, also after they were moved back. */
  readonly onMoved: (project: string) => void;
}) {
  const [name, setName] = useState("");
  const [done, setDone] = useState<number | undefined>();
  const [fault, setFault] = useState<unknown>();
  const listId = useId();
  // Without them the name can still be typed.
  const { data } = useQuery<ProjectList>("/projects?limit=1000");
  const target = name.trim();
  const others = (data?.projects ?? []).filter((one) => one.name !== project);
  const isWhole = data !== undefined && data.total === data.projects.length;
  const isNew = isWhole && target !== "" && !data.projects.some((one) => one.name === target);
  const isHere = target === project;
  const move = async (): Promise<void> => {
    if (target === "" || isHere) return;
    setDone(0);
    setFault(undefined);
    try {
      const moved = await moveRuns(runs, target, setDone);
      tell(moved, target, () => void attempt(() => moveBack(moved)));
      onClose();
      onMoved(target);
    } catch (error) {
      setFault(error);
      setDone(undefined);
    }
  };
  const moveBack = async ({ ids }: Moved): Promise<void> => {
    await moveRuns({ ids }, project, () => undefined);
    onMoved(project);
  };
  return (
    <Dialog
      title="Move to another project"
      onClose={onClose}
      onSubmit={() => void move()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={done !== undefined} disabled={target === "" || isHere}>
            {`Move ${counted(count, "run")}`}
          </Button>
        </>
      }
    >
      <p>All logged data moves with the runs. Artifact versions stay in their collections.</p>
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
        {others.map((one) => (
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

function tell({ ids, failed }: Moved, target: string, undo: () => void): void {
  const failures = failed === 0 ? "" : ` ${counted(failed, "run")} could not be moved.`;
  toast(`Moved ${counted(ids.length, "run")} to ${target}.${failures}`, ids.length === 0 ? {} : { undo });
}
