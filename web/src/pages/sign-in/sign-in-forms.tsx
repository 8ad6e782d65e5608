import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Session } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { TextField } from "../../ui/field.tsx";
import "./sign-in-page.css";

type Config = { readonly dev_auth_enabled: boolean; readonly oidc_enabled: boolean };

/** The ways to sign in that the server offers. The identity provider leads back to `next`, or without one to a new tab. */
export function SignInForms({
  next,
  onSignedIn,
}: {
  readonly next?: string;
  readonly onSignedIn: (session: Session) => void;
}) {
  const [config, setConfig] = useState<Config>();
  const [fault, setFault] = useState<unknown>();
  useEffect(() => {
    call<Config>("/api/auth/config", { signsIn: true }).then(setConfig, setFault);
  }, []);
  if (config === undefined)
    return fault === undefined ? <Skeleton lines={3} height="32px" /> : <ErrorNote error={fault} />;
  return (
    <>
      {config.oidc_enabled && (
        <section class="tm-card">
          <a
            class="tm-button tm-button-primary"
            href={`/api/auth/oidc/start?return_to=${encodeURIComponent(next ?? "/")}`}
            target={next === undefined ? "_blank" : undefined}
          >
            Sign in with your organization
          </a>
        </section>
      )}
      <KeyForm onSignedIn={onSignedIn} isMain={!config.oidc_enabled} />
      {config.dev_auth_enabled && <DevForm onSignedIn={onSignedIn} />}
    </>
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
