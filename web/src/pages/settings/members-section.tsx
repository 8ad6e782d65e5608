import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { session, type Role } from "../../api/session.ts";
import { Badge } from "../../ui/status-badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { faultOf } from "../../ui/fault.ts";
import { Select, TextField } from "../../ui/field.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { toast } from "../../ui/toast.tsx";
import { useQuery } from "../../api/use-answer.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Time } from "../../ui/time.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { DataTable } from "./data-table.tsx";
import { mayChange, roleOptions } from "./grants.ts";

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
      toast(`${user.primary_email} is now ${role}.`);
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
            toast(`Removed ${leaving.user.primary_email}.`);
            reload();
          }}
        >
          <p>
            <strong>{leaving.user.primary_email}</strong> is signed out of this organization immediately. API keys that
            this person created stay valid until they are revoked.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

type Invitation = {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly status: string;
  readonly expires_at: string;
};
type SignInConfig = { readonly oidc_enabled: boolean; readonly invitation_enabled: boolean };
type Sent = { readonly invitation: Invitation; readonly preview_link: string | null };

/** Invites people, and shows who has not accepted yet. */
function Invitations({ path, own }: { readonly path: string; readonly own: Role | undefined }) {
  const { data, error, reload } = useQuery<{ readonly invitations: readonly Invitation[] }>(`${path}?limit=200`);
  const { data: config } = useQuery<SignInConfig>("/api/auth/config");
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [sent, setSent] = useState<Sent>();
  const [sendFault, setSendFault] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setSendFault(undefined);
    try {
      await work();
      reload();
    } catch (error) {
      setSendFault(error);
    } finally {
      setBusy(false);
    }
  };
  const invite = async (): Promise<void> => {
    setSent(await call<Sent>(path, { body: { email: email.trim(), role } }));
    setEmail("");
  };
  const waiting = data?.invitations.filter(({ status }) => status === "pending") ?? [];
  return (
    <section class="tm-settings-part" aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      <form
        class="tm-settings-form"
        onSubmit={(event) => {
          event.preventDefault();
          void attempt(invite);
        }}
      >
        <TextField label="E-mail address" type="email" value={email} onInput={setEmail} />
        <Select label="Role" value={role} onChange={setRole} options={roleOptions(own)} />
        <Button type="submit" busy={isBusy} disabled={!email.includes("@")}>
          Invite
        </Button>
      </form>
      {config?.invitation_enabled === true && (
        <p class="tm-hint">The link of an invitation signs in whoever opens it first, so send it privately.</p>
      )}
      {config?.invitation_enabled === false && !config.oidc_enabled && (
        <p class="tm-hint">
          People cannot sign in here yet: the administrator has to set up an identity provider (
          <code>TIDEMARK_OIDC_ISSUER</code>).
        </p>
      )}
      <ErrorNote error={sendFault ?? error} />
      {sent !== undefined && (
        <div role="status" class="tm-secret">
          {sent.preview_link === null ? (
            <span>An invitation was sent to {sent.invitation.email}.</span>
          ) : (
            <>
              <span>
                Send this link to {sent.invitation.email}: <code>{sent.preview_link}</code>
              </span>
              <CopyButton text={sent.preview_link} label="Copy the link" />
            </>
          )}
        </div>
      )}
      {waiting.length > 0 && (
        <DataTable label="Invitations" columns={["E-mail address", "Role", "Expires", "Actions"]}>
          {waiting.map((invitation) => (
            <tr key={invitation.id}>
              <th scope="row">{invitation.email}</th>
              <td>{invitation.role}</td>
              <td>
                <Time at={invitation.expires_at} />
              </td>
              <td>
                <Button
                  size="s"
                  aria-label={`Revoke the invitation of ${invitation.email}`}
                  onClick={() =>
                    void attempt(async () => {
                      await call(`${path}/${invitation.id}/revoke`, { body: {} });
                      toast("The invitation is revoked.");
                    })
                  }
                >
                  Revoke
                </Button>
              </td>
            </tr>
          ))}
        </DataTable>
      )}
    </section>
  );
}
