import "../shared-chunk.ts";
import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import { loadSession, session, takeSession, type Session } from "../../api/session.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { SignInForms, useSignInConfig } from "./sign-in-forms.tsx";

/** Asks for a sign-in over a page whose session has ended. A sign-in in another tab counts as well. */
export function SignInDialog({ onClose }: { readonly onClose: () => void }) {
  const email = session.peek()?.user?.primary_email;
  const { config, fault } = useSignInConfig();
  useEffect(() => {
    const look = (): void => {
      // Without an answer the forms are still there.
      if (!document.hidden) void loadSession().catch(() => undefined);
    };
    look();
    addEventListener("focus", look);
    document.addEventListener("visibilitychange", look);
    return () => {
      removeEventListener("focus", look);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
  // An open dialog gives the focus to what is in it at first.
  if (config === undefined && fault === undefined) return null;
  return (
    <Dialog title="Sign in again" onClose={onClose}>
      <p>
        Your session {email === undefined ? "" : `as ${email} `}has ended. Sign in as the same user, here or in another
        tab, and this page continues where you left off. Signing in as another user reloads it.
      </p>
      <ErrorNote error={fault} />
      {config !== undefined && (
        <SignInForms config={config} next="/" again={{ email }} onSignedIn={(answer) => void goOn(answer)} />
      )}
    </Dialog>
  );
}

/** Goes on in the organization of the page, if the user is still a member of it. */
async function goOn(answer: Session): Promise<void> {
  const { org_id: orgId, user_id: userId } = session.peek()?.session ?? answer.session;
  const isElsewhere = answer.session.org_id !== orgId && userId !== null && userId === answer.session.user_id;
  const isMember = answer.memberships.some((one) => one.org_id === orgId && (one.deleted_at ?? null) === null);
  const options = { body: { org_id: orgId }, signsIn: true };
  const switched = isElsewhere && isMember ? call<Session>("/api/auth/switch-organization", options) : answer;
  // If that fails, the page is loaded afresh in the other organization.
  takeSession(await Promise.resolve(switched).catch(() => answer));
}
