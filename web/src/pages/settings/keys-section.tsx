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
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { DataTable } from "./data-table.tsx";
import { NewKey } from "./new-key.tsx";

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
        <p class="tm-muted">Programs sign in with keys. A key shows its text once, when it is made.</p>
        <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
          New API key
        </Button>
      </div>
      <ErrorNote error={error} onRetry={reload} />
      {data === undefined && error === undefined && <Skeleton lines={4} height="28px" />}
      {data?.api_keys.length === 0 && <EmptyState icon="key" title="There are no keys yet" />}
      {data !== undefined && data.api_keys.length > 0 && (
        <DataTable label="API keys" columns={["Name", "Key", "Scopes", "Project", "Last used", "Ends", "Actions"]}>
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
            toast(`${ending.name} is revoked.`);
            reload();
          }}
        >
          <p>
            Programs that use <strong>{ending.name}</strong> are refused from now on. This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
