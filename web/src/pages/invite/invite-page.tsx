import "../shared-chunk.ts";
import { useEffect, useState } from "preact/hooks";
import "../sign-in/sign-in-page.css";
import { call } from "../../api/client.ts";
import { hasUser, takeSession, type Session } from "../../api/session.ts";
import { Link, navigate, useTitle } from "../../app/location.tsx";
import { takeToken } from "../../app/addresses.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { Time } from "../../ui/time.tsx";

type Invitation = {
  readonly org_name: string;
  readonly email_hint: string;
  readonly role: string;
  readonly status: string;
  readonly expires_at: string;
};

type Config = {
  readonly dev_auth_enabled: boolean;
  readonly oidc_enabled: boolean;
  readonly invitation_enabled: boolean;
};

/** Shows what an invitation is to, and accepts it for who is signed in; where the server allows it, the link itself signs in. */
export function InvitePage() {
  useTitle("Invitation");
  const [token] = useState(invitationToken);
  const [invitation, setInvitation] = useState<Invitation>();
  const [config, setConfig] = useState<Config>();
  const [fault, setFault] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (token === undefined) return;
    call<{ readonly invitation: Invitation }>("/api/invitations/preview", { body: { token } }).then(
      (answer) => setInvitation(answer.invitation),
      setFault,
    );
    if (!hasUser()) call<Config>("/api/auth/config", { signsIn: true }).then(setConfig, setFault);
  }, [token]);
  const accept = async (): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      const path = hasUser() ? "/api/invitations/accept" : "/api/auth/invitation";
      takeSession(await call<Session>(path, { body: { token }, signsIn: !hasUser() }));
      forgetInvitation();
      navigate("/", { replace: true });
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <div class="tm-page tm-narrow">
      <h1>Invitation</h1>
      {token === undefined && <p class="tm-card">This link is incomplete. Open the whole link that you were sent.</p>}
      {token !== undefined && invitation === undefined && fault === undefined && <Skeleton lines={3} />}
      {invitation !== undefined && (
        <div class="tm-card">
          <p>
            You are invited to join <strong>{invitation.org_name}</strong> as {invitation.role === "admin" ? "an" : "a"}{" "}
            {invitation.role}, with the address {invitation.email_hint}.
          </p>
          {invitation.status !== "pending" ? (
            <p>This invitation is {invitation.status}. Ask for a new one.</p>
          ) : hasUser() || config?.invitation_enabled === true ? (
            <>
              <p class="tm-muted">
                {!hasUser() && "This link signs you in on this device, once. "}It expires{" "}
                <Time at={invitation.expires_at} />.
              </p>
              <div>
                <Button kind="primary" busy={isBusy} onClick={() => void accept()}>
                  Join {invitation.org_name}
                </Button>
              </div>
            </>
          ) : config?.oidc_enabled === true || config?.dev_auth_enabled === true ? (
            <div>
              <Link class="tm-button tm-button-primary" href="/signin?next=%2Finvite">
                Sign in to join
              </Link>
            </div>
          ) : config === undefined ? (
            <Skeleton lines={1} />
          ) : (
            <p>
              This server has no sign-in for people yet. Ask its administrator to set up an identity provider (
              <code>TIDEMARK_OIDC_ISSUER</code>), or open the link on the machine of the server.
            </p>
          )}
        </div>
      )}
      <ErrorNote error={fault} />
    </div>
  );
}

/** Where the token waits while a person signs in; it ends with the tab. */
const STORED = "tidemark-invitation";

/** Returns the token of the link that was opened, also after its person signed in. */
function invitationToken(): string | undefined {
  const token = takeToken();
  try {
    if (token !== undefined) sessionStorage.setItem(STORED, token);
    return token ?? sessionStorage.getItem(STORED) ?? undefined;
  } catch {
    // Nothing is stored in this browser.
    return token;
  }
}

/** Forgets it once it is used. */
function forgetInvitation(): void {
  try {
    sessionStorage.removeItem(STORED);
  } catch {
    // Nothing is stored in this browser.
  }
}
