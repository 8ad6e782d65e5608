import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { sessionState, takeSession, type Session } from "../../api/session.ts";
import { localAddress, takeToken } from "../../app/addresses.ts";
import { currentLocation, navigate, useTitle } from "../../app/location.tsx";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton, Spinner } from "../../ui/spinner.tsx";
import { TextField } from "../../ui/field.tsx";
import "./sign-in-page.css";

type Config = { readonly dev_auth_enabled: boolean; readonly oidc_enabled: boolean };

/** Signs in by the link of a local start, immediately; by API key; at the identity provider; by email address alone if the server is for development. */
export function SignInPage() {
  useTitle("Sign in");
  const next = localAddress(currentLocation.value.query.get("next"));
  const [linkFault, setLinkFault] = useState<unknown>();
  const [isLinked, setLinked] = useState(false);
  const [config, setConfig] = useState<Config>();
  const [fault, setFault] = useState<unknown>();
  const enter = (answer: Session): void => {
    takeSession(answer);
    navigate(next, { replace: true });
  };
  useEffect(() => {
    const token = takeToken();
    if (token !== undefined) {
      setLinked(true);
      call<Session>("/api/auth/one-time", { body: { token } }).then(enter, (error: unknown) => {
        setLinked(false);
        setLinkFault(error);
      });
    } else if (sessionState.peek() === "in") navigate(next, { replace: true });
    call<Config>("/api/auth/config").then(setConfig, setFault);
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
            This link was used already, or is older than ten minutes. Start Tidemark again for a new one, or sign in
            here.
          </p>
        </div>
      )}
      <ErrorNote error={fault} />
      {config === undefined && fault === undefined && <Skeleton lines={3} height="32px" />}
      {config !== undefined && !isLinked && (
        <>
          {config.oidc_enabled && (
            <section class="tm-card">
              <a
                class="tm-button tm-button-primary"
                href={`/api/auth/oidc/start?return_to=${encodeURIComponent(next)}`}
              >
                Sign in with your organization
              </a>
            </section>
          )}
          <KeyForm onSignedIn={enter} isMain={!config.oidc_enabled} />
          {config.dev_auth_enabled && <DevForm onSignedIn={enter} />}
        </>
      )}
    </div>
  );
}

function KeyForm({
  onSignedIn,
  isMain,
}: {
  readonly onSignedIn: (session: Session) => void;
  readonly isMain: boolean;
}) {
  const [key, setKey] = useState("");
  return (
    <AuthForm
      title="With an API key"
      path="/api/auth/api-key"
      body={{ api_key: key.trim() }}
      canSend={key.trim() !== ""}
      isMain={isMain}
      onSignedIn={onSignedIn}
    >
      <TextField
        label="API key"
        type="password"
        mono
        value={key}
        onInput={setKey}
        placeholder="tm_…"
        hint="The page may then do what the key may. A local start prints one."
      />
    </AuthForm>
  );
}

function DevForm({ onSignedIn }: { readonly onSignedIn: (session: Session) => void }) {
  const [email, setEmail] = useState("");
  return (
    <AuthForm
      title="For development"
      path="/api/auth/dev/google"
      body={{ email: email.trim() }}
      canSend={email.includes("@")}
      isMain={false}
      onSignedIn={onSignedIn}
    >
      <TextField
        label="E-mail address"
        type="email"
        value={email}
        onInput={setEmail}
        hint="Without a password: this installation was started for development."
      />
    </AuthForm>
  );
}

function AuthForm({
  title,
  path,
  body,
  canSend,
  isMain,
  onSignedIn,
  children,
}: {
  readonly title: string;
  readonly path: string;
  readonly body: unknown;
  readonly canSend: boolean;
  readonly isMain: boolean;
  readonly onSignedIn: (session: Session) => void;
  readonly children: ComponentChildren;
}) {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>();
  const send = async (): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      onSignedIn(await call<Session>(path, { body }));
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <form
      class="tm-card"
      onSubmit={(event) => {
        event.preventDefault();
        if (canSend) void send();
      }}
    >
      <h2>{title}</h2>
      {children}
      <ErrorNote error={fault} />
      <div>
        <Button type="submit" kind={isMain ? "primary" : "plain"} busy={isBusy} disabled={!canSend}>
          Sign in
        </Button>
      </div>
    </form>
  );
}
