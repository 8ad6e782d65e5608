import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { session, type Role } from "../../api/session.ts";
import { Badge } from "../../ui/status-badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { faultOf } from "../../ui/fault.ts";
import { Select } from "../../ui/field.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { toast } from "../../ui/toast.tsx";
import { useQuery } from "../../api/use-answer.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { DataTable } from "./data-table.tsx";
import { mayChange, roleOptions } from "./grants.ts";
import { Invitations } from "./invitations.tsx";

type Seat = {
  readonly membership: { readonly id: string; readonly user_id: string; readonly role: Role; readonly status: string };
  readonly user: { readonly primary_email: string; readonly display_name: string | null };
};

/** The people of the organization: their roles, invitations, and removal. */
export function MembersSection() {
  const orgPath = `/api/orgs/${session.value?.organization.id ?? ""}`;
  const { data, error, reload } = useQuery<{ readonly seats: readonly Seat[] }>(`${orgPath}/seats?limit=1000`);
  const [leaving, setLeaving] = useState<Seat>();
  const own = session.value?.membership?.role;
  const change = async ({ membership, user }: Seat, role: Role): Promise<void> => {
    try {
      await call(`${orgPath}/seats/${membership.id}`, { method: "PATCH", body: { role } });
      toast(`${user.primary_email} is ${role} now.`);
    } catch (error) {
      toast(faultOf(error).text, { kind: "bad" });
    }
    reload();
  };
  return (
    <>
      <ErrorNote error={error} onRetry={reload} />
      {data === undefined && error === undefined && <Skeleton lines={4} height="28px" />}
      {data !== undefined && (
        <DataTable label="Members" columns={["Person", "Role", "Actions"]}>
          {data.seats.map((seat) => {
            const { membership, user } = seat;
            const isOwn = membership.user_id === session.value?.user?.id;
            const isOpen = mayChange(own, membership.role);
            return (
              <tr key={membership.id}>
                <th scope="row">
                  {user.display_name ?? user.primary_email} {isOwn && <Badge>You</Badge>}{" "}
                  {membership.status === "invited" && <Badge kind="info">Invited</Badge>}
                  {user.display_name !== null && <span class="tm-hint">{user.primary_email}</span>}
                </th>
                <td>
                  {isOpen ? (
                    <Select
                      label={`Role of ${user.primary_email}`}
                      hideLabel
                      value={membership.role}
                      options={roleOptions(own)}
                      onChange={(role) => void change(seat, role)}
                    />
                  ) : (
                    membership.role
                  )}
                </td>
                <td>
                  {isOpen && (
                    <Button
                      kind="danger"
                      size="s"
                      aria-label={`Remove ${user.primary_email}`}
                      onClick={() => setLeaving(seat)}
                    >
                      Remove
                    </Button>
                  )}
                </td>
              </tr>
            );
          })}
        </DataTable>
      )}
      <Invitations path={`${orgPath}/invitations`} own={own} />
      {leaving !== undefined && (
        <ConfirmDialog
          title="Remove this member?"
          action="Remove member"
          onClose={() => setLeaving(undefined)}
          onConfirm={async () => {
            await call(`${orgPath}/seats/${leaving.membership.id}`, { method: "DELETE" });
            toast(`${leaving.user.primary_email} is removed.`);
            reload();
          }}
        >
          <p>
            <strong>{leaving.user.primary_email}</strong> is signed out of this organization immediately. API keys that
            the person made stay until they are revoked.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
