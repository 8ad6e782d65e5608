import "../shared-chunk.ts";
import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { sessionState, takeSession, type Session } from "../../api/session.ts";
import { localAddress, takeToken } from "../../app/addresses.ts";
import { currentLocation, navigate, useTitle } from "../../app/location.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton, Spinner } from "../../ui/spinner.tsx";
import { SignInForms, useSignInConfig } from "./sign-in-forms.tsx";

/** Signs in by the link of a local start, immediately; by API key; at the identity provider; by email address alone if the server is for development. */
export function SignInPage() {
  useTitle("Sign in");
  const next = localAddress(currentLocation.value.query.get("next"));
  const [linkFault, setLinkFault] = useState<unknown>();
  const [isLinked, setLinked] = useState(false);
  const { config, fault } = useSignInConfig();
  const enter = (answer: Session): void => {
    takeSession(answer);
    navigate(next, { replace: true });
  };
  useEffect(() => {
    const token = takeToken();
    if (token !== undefined) {
      setLinked(true);
      call<Session>("/api/auth/one-time", { body: { token }, signsIn: true }).then(enter, (error: unknown) => {
        setLinked(false);
        setLinkFault(error);
      });
    } else if (sessionState.peek() === "in") navigate(next, { replace: true });
  }, []);
  return (
    <div class="tm-page tm-narrow">
      <h1>Sign in</h1>
      {isLinked && (
        <p role="status">
          <Spinner /> Signing in with the link…
        </p>
      )}
      {linkFault !== undefined && (
        <div class="tm-card" role="alert">
          <p>
            This link was already used or is older than ten minutes. <code>npm start -- --link</code> prints a new one.
          </p>
        </div>
      )}
      <ErrorNote error={fault} />
      {config === undefined && fault === undefined && <Skeleton lines={3} height="32px" />}
      {config !== undefined && !isLinked && <SignInForms config={config} next={next} onSignedIn={enter} />}
    </div>
  );
}
