import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Role } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { useQuery } from "../../api/use-answer.ts";
import { DataTable } from "./data-table.tsx";
import { roleOptions } from "./grants.ts";

type Invitation = {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly status: string;
  readonly expires_at: string;
};
type Sent = { readonly invitation: Invitation; readonly preview_link: string | null };

/** Invites people, and shows who has not accepted yet. */
export function Invitations({ path, own }: { readonly path: string; readonly own: Role | undefined }) {
  const { data, error, reload } = useQuery<{ readonly invitations: readonly Invitation[] }>(`${path}?limit=200`);
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
      <ErrorNote error={sendFault ?? error} />
      {sent !== undefined && (
        <div role="status" class="tm-secret">
          {sent.preview_link === null ? (
            <span>{sent.invitation.email} was sent an invitation.</span>
          ) : (
            <>
              <span>
                Hand this link to {sent.invitation.email}: <code>{sent.preview_link}</code>
              </span>
              <CopyButton text={sent.preview_link} label="Copy the link" />
            </>
          )}
        </div>
      )}
      {waiting.length > 0 && (
        <DataTable label="Invitations" columns={["Address", "Role", "Ends", "Actions"]}>
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
                  aria-label={`Take back the invitation of ${invitation.email}`}
                  onClick={() =>
                    void attempt(async () => {
                      await call(`${path}/${invitation.id}/revoke`, { body: {} });
                      toast("The invitation is taken back.");
                    })
                  }
                >
                  Take back
                </Button>
              </td>
            </tr>
          ))}
        </DataTable>
      )}
    </section>
  );
}
