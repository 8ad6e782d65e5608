import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { byteWords, counted } from "../../ui/number-words.ts";
import { Select } from "../../ui/select.tsx";
import { toast } from "../../ui/toasts.ts";

const SOURCES = [
  { value: "archive", label: "Tidemark archive (.ndjson)" },
  { value: "wandb", label: "Weights & Biases (JSON)" },
  { value: "mlflow", label: "MLflow (JSON)" },
  { value: "neptune", label: "Neptune (JSON)" },
] as const;

type Source = (typeof SOURCES)[number]["value"];
type Counts = Readonly<Record<string, number>>;

/** What an import would bring, or has brought. */
type Found = { readonly text: string };

/** Imports a file. The server looks at a document of another tracker first and says what it holds; an archive is imported at once. */
export function ImportUpload({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }) {
  const [source, setSource] = useState<Source>("archive");
  const [file, setFile] = useState<File>();
  const [found, setFound] = useState<Found>();
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>();
  const needsLook = source !== "archive" && found === undefined;
  const work = async (): Promise<void> => {
    if (file === undefined) return;
    setBusy(true);
    setFault(undefined);
    try {
      if (needsLook) setFound({ text: countsWords((await sendDocument(source, file, true)).summary) });
      else {
        const counts =
          source === "archive" ? await sendArchive(file) : (await sendDocument(source, file, false)).summary;
        toast(`Imported: ${countsWords(counts)}.`);
        onDone();
        onClose();
      }
    } catch (error) {
      setFault(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Import a file"
      onClose={onClose}
      onSubmit={() => void work()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={isBusy} disabled={file === undefined}>
            {needsLook ? "Check file" : "Import file"}
          </Button>
        </>
      }
    >
      <Select
        label="From"
        value={source}
        options={SOURCES}
        onChange={(next) => {
          setSource(next);
          setFound(undefined);
        }}
      />
      <div class="tm-field">
        <label for="import-file" class="tm-label">
          File
        </label>
        <input
          id="import-file"
          type="file"
          accept=".json,.ndjson,application/json,application/x-ndjson"
          onChange={(event) => {
            setFile(event.currentTarget.files?.[0]);
            setFound(undefined);
          }}
        />
        {file !== undefined && <p class="tm-hint">{byteWords(file.size)}</p>}
      </div>
      {found !== undefined && <p role="status">The file holds {found.text}. Each import makes new runs.</p>}
      {source === "archive" && (
        <p class="tm-hint">
          If the connection is lost, import the same file again within a day: what is stored already is not stored
          twice.
        </p>
      )}
      <ErrorNote error={fault} />
    </Dialog>
  );
}

async function sendDocument(source: Source, file: File, isDry: boolean): Promise<{ readonly summary: Counts }> {
  const body = new Blob([file], { type: "application/json" });
  return call(`/api/imports/${source}${isDry ? "?dry_run=true" : ""}`, { method: "POST", body });
}

/** The key is made of the name, size and time of change of a file: within a day, the same file goes on where a broken import ended. */
async function sendArchive(file: File): Promise<Counts> {
  const body = new Blob([file], { type: "application/x-ndjson" });
  const key = `archive-${file.name}-${file.size}-${file.lastModified}`.replaceAll(/[^\x21-\x7e]/g, "_").slice(0, 200);
  const headers = { "idempotency-key": key };
  return (await call<{ readonly counts: Counts }>("/api/imports/archive", { method: "POST", body, headers })).counts;
}

function countsWords(counts: Counts): string {
  const said = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => counted(count, what.replaceAll("_", " "), what.replaceAll("_", " ")));
  return said.length === 0 ? "nothing" : said.join(", ");
}
