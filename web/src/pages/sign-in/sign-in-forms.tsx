import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Session } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { TextField } from "../../ui/field.tsx";
import "./sign-in-page.css";

type Config = {
  readonly dev_auth_enabled: boolean;
  readonly oidc_enabled: boolean;
  readonly one_time_enabled: boolean;
};

/** Asks the server how to sign in. */
export function useSignInConfig(): { readonly config: Config | undefined; readonly fault: unknown } {
  const [config, setConfig] = useState<Config>();
  const [fault, setFault] = useState<unknown>();
  useEffect(() => {
    call<Config>("/api/auth/config", { signsIn: true }).then(setConfig, setFault);
  }, []);
  return { config, fault };
}

/** The ways to sign in. The identity provider leads back to `next`. */
export function SignInForms({
  config,
  next,
  again,
  onSignedIn,
}: {
  readonly config: Config;
  readonly next: string;
  /** In a dialog, because the session has ended: its user's address, if it was of a user. The identity provider is in another tab. */
  readonly again?: { readonly email: string | undefined };
  readonly onSignedIn: (session: Session) => void;
}) {
  const isAgain = again !== undefined;
  const key = <KeyForm onSignedIn={onSignedIn} isMain={!config.oidc_enabled} autofocus={isAgain} />;
  const email = again?.email ?? "";
  const dev = config.dev_auth_enabled && <DevForm email={email} onSignedIn={onSignedIn} autofocus={isAgain} />;
  return (
    <>
      {config.oidc_enabled && (
        <section class="tm-card">
          <a
            class="tm-button tm-button-primary"
            href={`/api/auth/oidc/start?return_to=${encodeURIComponent(next)}`}
            target={isAgain ? "_blank" : undefined}
          >
            Sign in with your organization
          </a>
        </section>
      )}
      {email === "" ? [key, dev] : [dev, key]}
      {config.one_time_enabled && (
        <p class="tm-hint">
          Does this server run on your machine? <code>npm start -- --link</code> prints a link that signs you in.
        </p>
      )}
    </>
  );
}

function KeyForm({
  onSignedIn,
  isMain,
  autofocus,
}: {
  readonly onSignedIn: (session: Session) => void;
  readonly isMain: boolean;
  readonly autofocus: boolean;
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
        autofocus={autofocus}
        value={key}
        onInput={setKey}
        placeholder="tm_…"
        hint="The page gets the permissions of the key. A local server prints one when it starts."
      />
    </AuthForm>
  );
}

function DevForm({
  email: known,
  onSignedIn,
  autofocus,
}: {
  readonly email: string;
  readonly onSignedIn: (session: Session) => void;
  readonly autofocus: boolean;
}) {
  const [email, setEmail] = useState(known);
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
        autofocus={autofocus}
        value={email}
        onInput={setEmail}
        hint="No password needed: this server was started for development."
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
      onSignedIn(await call<Session>(path, { body, signsIn: true }));
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
