import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { loadSession, may } from "../../api/session.ts";
import { Badge } from "../../ui/status-badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { useQuery } from "../../api/use-answer.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { DataTable } from "./data-table.tsx";

type ListedSession = {
  readonly id: string;
  readonly current: boolean;
  readonly organization: { readonly name: string };
  readonly user: { readonly primary_email: string; readonly display_name: string | null } | null;
  readonly created_at: string;
  readonly last_seen_at: string | null;
  readonly expires_at: string;
};

/** Where the signed-in person is signed in, and for owners and admins, all members of the organization; each session can be ended. */
export function SessionsSection() {
  const [isAll, setAll] = useState(false);
  const { data, error, reload } = useQuery<{ readonly sessions: readonly ListedSession[] }>(
    `/api/auth/sessions?limit=1000${isAll ? "&all=true" : ""}`,
  );
  const [ending, setEnding] = useState<ListedSession>();
  return (
    <>
      {may("people") && (
        <div class="tm-settings-bar">
          <Checkbox label="Everyone in this organization" checked={isAll} onChange={setAll} />
        </div>
      )}
      <ErrorNote error={error} onRetry={reload} />
      {data === undefined && error === undefined && <Skeleton lines={4} height="28px" />}
      {data !== undefined && (
        <DataTable
          label="Sessions"
          columns={["Person", "Organization", "Signed in", "Last seen", "Expires", "Actions"]}
        >
          {data.sessions.map((listed) => (
            <tr key={listed.id}>
              <th scope="row">
                {nameOf(listed)} {listed.current && <Badge>This one</Badge>}
              </th>
              <td>{listed.organization.name}</td>
              <td>
                <Time at={listed.created_at} />
              </td>
              <td>
                <Time at={listed.last_seen_at} />
              </td>
              <td>
                <Time at={listed.expires_at} />
              </td>
              <td>
                <Button
                  kind="danger"
                  size="s"
                  aria-label={`End the session of ${nameOf(listed)}`}
                  onClick={() => setEnding(listed)}
                >
                  End
                </Button>
              </td>
            </tr>
          ))}
        </DataTable>
      )}
      {ending !== undefined && (
        <ConfirmDialog
          title="End this session?"
          action="End session"
          onClose={() => setEnding(undefined)}
          onConfirm={async () => {
            await call(`/api/auth/sessions/${ending.id}`, { method: "DELETE" });
            if (ending.current) {
              await loadSession();
              return;
            }
            toast("The session has ended.");
            reload();
          }}
        >
          <p>
            {ending.current ? "You are signed out here." : `${nameOf(ending)} has to sign in again there.`} Requests in
            progress end within seconds.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

function nameOf({ user }: ListedSession): string {
  return user === null ? "An API key" : (user.display_name ?? user.primary_email);
}
