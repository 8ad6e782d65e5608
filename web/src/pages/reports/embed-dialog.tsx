import { useState } from "preact/hooks";
import { serverUrl } from "../../api/base-path.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { Snippet } from "../../ui/copy-button.tsx";
import { useQuery } from "../../api/use-answer.ts";
import { embedBody, embedCommand, embedFrame, faultOfOrigin, type EmbedOptions } from "./embed-snippet.ts";

type Run = { readonly id: string; readonly name: string };

const THEMES = [
  { value: "system", label: "Reader’s system theme" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
] as const;

/** Makes the embed session that another site needs to show runs for some minutes. Only an API key can open one, so it asks for a key and does not keep it. */
export function EmbedDialog({ projectId, onClose }: { readonly projectId: string; readonly onClose: () => void }) {
  const [find, setFind] = useState("");
  const runs = useQuery<{ runs: Run[] }>(
    `/api/runs/summary?${new URLSearchParams({ project_id: projectId, limit: "50", projection: "selection", ...(find === "" ? {} : { q: find }) }).toString()}`,
  );
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [origin, setOrigin] = useState("");
  const [minutes, setMinutes] = useState("60");
  const [theme, setTheme] = useState<EmbedOptions["theme"]>("system");
  const [key, setKey] = useState("");
  const [address, setAddress] = useState<string>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const embedOptions: EmbedOptions = { runIds: chosen, origin, minutes: Number(minutes), theme };
  const fault = origin === "" ? undefined : faultOfOrigin(origin);
  const isReady = chosen.length > 0 && origin !== "" && fault === undefined;
  const create = async (): Promise<void> => {
    if (!isReady || key.trim() === "") return;
    setBusy(true);
    try {
      const headers = { authorization: `Bearer ${key.trim()}` };
      const made = await call<{ embed_session: { iframe_src: string } }>("/api/embed/sessions", {
        body: embedBody(embedOptions),
        headers,
      });
      setAddress(made.embed_session.iframe_src);
      setError(undefined);
    } catch (refused) {
      setError(refused);
    }
    setBusy(false);
  };
  return (
    <Dialog
      title="Embed runs in another page"
      wide
      onClose={onClose}
      onSubmit={() => void create()}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button kind="primary" type="submit" busy={isBusy} disabled={!isReady || key.trim() === ""}>
            Create embed
          </Button>
        </>
      }
    >
      <ErrorNote error={runs.error ?? error} />
      <fieldset class="tm-run-choices">
        <legend>Runs</legend>
        <TextField label="Find runs" hideLabel type="search" placeholder="Find runs" value={find} onInput={setFind} />
        {runs.data === undefined && runs.error === undefined && <Skeleton lines={3} />}
        {(runs.data?.runs ?? []).map((run) => (
          <Checkbox
            key={run.id}
            label={run.name}
            checked={chosen.includes(run.id)}
            onChange={(on) => setChosen(on ? [...chosen, run.id] : chosen.filter((id) => id !== run.id))}
          />
        ))}
        {runs.data?.runs.length === 0 && (
          <p class="tm-muted">{find === "" ? "This project has no runs yet." : "No runs match."}</p>
        )}
      </fieldset>
      <TextField
        label="Origin of the page"
        hint="Only pages of this origin can show the runs."
        placeholder="https://wiki.example.com"
        value={origin}
        onInput={setOrigin}
        error={fault}
      />
      <div class="tm-form-row">
        <Select
          label="Valid for"
          value={minutes}
          options={["5", "15", "60"].map((value) => ({ value, label: `${value} minutes` }))}
          onChange={setMinutes}
        />
        <Select label="Theme" value={theme} options={THEMES} onChange={setTheme} />
      </div>
      {isReady && (
        <>
          <p>An embed expires within the hour, so sites usually create one for each page view, on their own server:</p>
          <Snippet label="Create an embed from a server" text={embedCommand(serverUrl(), embedOptions)} />
          <TextField
            label="API key, to create one now"
            hint="A key with export:read. It is used for this request only and not stored."
            type="password"
            value={key}
            onInput={setKey}
          />
        </>
      )}
      {address !== undefined && (
        <>
          <p>Paste this into the page:</p>
          <Snippet label="Show the runs in a page" text={embedFrame(address)} />
        </>
      )}
    </Dialog>
  );
}
