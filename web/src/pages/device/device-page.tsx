import "../shared-chunk.ts";
import { useState } from "preact/hooks";
import "../sign-in/sign-in-page.css";
import { call } from "../../api/client.ts";
import { may, session } from "../../api/session.ts";
import { currentLocation, useTitle } from "../../app/location.tsx";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { TextField } from "../../ui/field.tsx";

/** Approves the login of a device without a browser, for the organization of the session. */
export function DevicePage() {
  useTitle("Approve a device");
  const [code, setCode] = useState(currentLocation.peek().query.get("code") ?? "");
  const [isDone, setDone] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>();
  const name = session.value?.organization.name ?? "";
  const confirm = async (): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      await call("/api/auth/device-code/confirm", { body: { user_code: code.trim() } });
      setDone(true);
    } catch (error) {
      setFault(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="tm-page tm-narrow">
      <h1>Approve a device</h1>
      {isDone ? (
        <p class="tm-card" role="status">
          The device is signed in to {name}. You can close this page.
        </p>
      ) : !may("people") ? (
        <p class="tm-card">Only a signed-in owner or admin of {name} can approve a device. Ask one of them.</p>
      ) : (
        <form
          class="tm-card"
          onSubmit={(event) => {
            event.preventDefault();
            void confirm();
          }}
        >
          <p>
            A program is asking for an API key of <strong>{name}</strong>. Approve it only if you started it and it
            shows this code.
          </p>
          <TextField label="Code" mono value={code} onInput={setCode} placeholder="ABCD-EFGH" />
          <ErrorNote error={fault} />
          <div>
            <Button type="submit" kind="primary" busy={isBusy} disabled={code.trim() === ""}>
              Approve
            </Button>
          </div>
        </form>
      )}
    </div>
  );
}
