import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { session } from "../../api/session.ts";
import { Badge } from "../../ui/status-badge.tsx";
import { Button } from "../../ui/button.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { useQuery } from "../../api/use-answer.ts";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { DataTable } from "./data-table.tsx";
import { endOf, lifetimes, scopeWords } from "./grants.ts";

type Key = {
  readonly id: string;
  readonly name: string;
  readonly key_prefix: string;
  readonly scopes: readonly string[];
  readonly project_id: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
};
type Project = { readonly id: string; readonly name: string };

/** The API keys of the organization: make one, see who uses what, end one. */
export function KeysSection() {
  const keysPath = `/api/orgs/${session.value?.organization.id ?? ""}/api-keys`;
  const { data, error, reload } = useQuery<{ readonly api_keys: readonly Key[] }>(`${keysPath}?limit=1000`);
  const { data: list } = useQuery<{ readonly projects: readonly Project[] }>("/projects?limit=1000");
  const [isNew, setNew] = useState(false);
  const [ending, setEnding] = useState<Key>();
  const projects = list?.projects ?? [];
  const projectOf = ({ project_id: id }: Key): string =>
    id === null ? "All" : (projects.find((project) => project.id === id)?.name ?? id);
  return (
    <>
      <div class="tm-settings-bar">
        <p class="tm-muted">Programs sign in with API keys. A key is shown only once, when you create it.</p>
        <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
          New API key
        </Button>
      </div>
      <ErrorNote error={error} onRetry={reload} />
      {data === undefined && error === undefined && <Skeleton lines={4} height="28px" />}
      {data?.api_keys.length === 0 && <EmptyState icon="key" title="No API keys yet" />}
      {data !== undefined && data.api_keys.length > 0 && (
        <DataTable label="API keys" columns={["Name", "Key", "Scopes", "Project", "Last used", "Expires", "Actions"]}>
          {data.api_keys.map((key) => (
            <tr key={key.id}>
              <th scope="row">{key.name}</th>
              <td class="tm-mono">{key.key_prefix}…</td>
              <td>
                <span class="tm-badges">
                  {key.scopes.map((scope) => (
                    <Badge key={scope}>{scope}</Badge>
                  ))}
                </span>
              </td>
              <td>{projectOf(key)}</td>
              <td>
                <Time at={key.last_used_at} />
              </td>
              <td>{key.revoked_at === null ? <Time at={key.expires_at} /> : <Badge kind="bad">Revoked</Badge>}</td>
              <td>
                {key.revoked_at === null && (
                  <Button kind="danger" size="s" aria-label={`Revoke ${key.name}`} onClick={() => setEnding(key)}>
                    Revoke
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </DataTable>
      )}
      {isNew && <NewKey path={keysPath} projects={projects} onClose={() => setNew(false)} onMade={reload} />}
      {ending !== undefined && (
        <ConfirmDialog
          title="Revoke this key?"
          action="Revoke key"
          onClose={() => setEnding(undefined)}
          onConfirm={async () => {
            await call(`${keysPath}/${ending.id}/revoke`, { body: {} });
            toast(`Revoked ${ending.name}.`);
            reload();
          }}
        >
          <p>
            Programs that use <strong>{ending.name}</strong> stop working. This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** Makes a key, and shows its text this once. */
function NewKey({
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
        <p>You cannot see it again. Anyone who has it can do what it allows.</p>
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
        <legend class="tm-label">Allowed to</legend>
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
      <Select label="Expires" value={days} onChange={setDays} options={lifetimes} />
      <ErrorNote error={fault} />
    </Dialog>
  );
}
