import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { projectAddress } from "../../app/addresses.ts";
import { navigate } from "../../app/location.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { TextField } from "../../ui/text-field.tsx";
import type { Project } from "./types.ts";

/** Creates a project and goes to it. */
export function NewProject({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>();
  const create = async (): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      const body = { name: name.trim(), ...(description.trim() === "" ? {} : { description: description.trim() }) };
      const { project } = await call<{ readonly project: Project }>("/projects", { body });
      onClose();
      navigate(projectAddress(project.name));
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="New project"
      onClose={onClose}
      onSubmit={() => void create()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={isBusy} disabled={name.trim() === ""}>
            Create project
          </Button>
        </>
      }
    >
      <TextField label="Name" autofocus value={name} onInput={setName} />
      <TextField label="Description" value={description} onInput={setDescription} hint="Optional." />
      <ErrorNote error={fault} />
    </Dialog>
  );
}
