import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { endOf, lifetimes, scopeWords } from "./grants.ts";

/** Makes a key, and shows its text this once. */
export function NewKey({
  path,
  projects,
  onClose,
  onMade,
}: {
  readonly path: string;
  readonly projects: readonly { readonly id: string; readonly name: string }[];
  readonly onClose: () => void;
  readonly onMade: () => void;
}) {
  const [name, setName] = useState("");
  const [project, setProject] = useState("");
  const [days, setDays] = useState("");
  const [scopes, setScopes] = useState(() => scopeWords.filter(({ isUsual }) => isUsual).map(({ scope }) => scope));
  const [text, setText] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>();
  const make = async (): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    const end = endOf(days, Date.now());
    const body = {
      name: name.trim(),
      scopes,
      ...(project === "" ? {} : { project_id: project }),
      ...(end === undefined ? {} : { expires_at: end }),
    };
    try {
      setText((await call<{ readonly api_key: string }>(path, { body })).api_key);
      onMade();
    } catch (error) {
      setFault(error);
    } finally {
      setBusy(false);
    }
  };
  if (text !== undefined) {
    return (
      <Dialog title="Copy the key now" onClose={onClose} actions={<Button onClick={onClose}>Done</Button>}>
        <p>It is shown this once. Whoever has it can do what it allows.</p>
        <div class="tm-secret">
          <code>{text}</code>
          <CopyButton text={text} label="Copy the key" />
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog
      title="New API key"
      onClose={onClose}
      onSubmit={() => void make()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={isBusy} disabled={scopes.length === 0}>
            Create key
          </Button>
        </>
      }
    >
      <TextField
        label="Name"
        autofocus
        value={name}
        onInput={setName}
        placeholder="SDK API key"
        hint="What it is for."
      />
      <fieldset class="tm-scopes">
        <legend class="tm-label">It may</legend>
        {scopeWords.map(({ scope, label }) => (
          <Checkbox
            key={scope}
            label={label}
            hint={scope}
            checked={scopes.includes(scope)}
            onChange={(isOn) => setScopes(isOn ? [...scopes, scope] : scopes.filter((other) => other !== scope))}
          />
        ))}
      </fieldset>
      <Select
        label="Project"
        value={project}
        onChange={setProject}
        options={[{ value: "", label: "All projects" }, ...projects.map((one) => ({ value: one.id, label: one.name }))]}
      />
      <Select label="It ends" value={days} onChange={setDays} options={lifetimes} />
      <ErrorNote error={fault} />
    </Dialog>
  );
}
