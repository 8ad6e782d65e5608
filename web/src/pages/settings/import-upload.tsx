import { useEffect, useRef, useState } from "preact/hooks";
import { canceledWords, isSent, upload, uploadWords, type Sent } from "./upload.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { byteWords, counted } from "../../ui/words.ts";
import { Select } from "../../ui/field.tsx";
import { toast } from "../../ui/toast.tsx";

const SOURCES = [
  { value: "archive", label: "Tidemark archive (.ndjson)" },
  { value: "wandb", label: "Weights & Biases (JSON)" },
  { value: "mlflow", label: "MLflow (JSON)" },
  { value: "neptune", label: "Neptune (JSON)" },
] as const;

type Source = (typeof SOURCES)[number]["value"];
type Counts = Readonly<Record<string, number>>;

/** The result of a preview or of an import. */
type Found = { readonly text: string };

/** How a file is sent. */
type Sending = { readonly signal: AbortSignal; readonly onSent: (sent: Sent) => void };

/**
 * Imports a file. The server first reads a document of another tracker and reports its content; an archive is imported immediately. While a file is sent it
 * shows the progress; canceling ends it, as leaving the page does.
 */
export function ImportUpload({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }) {
  const [source, setSource] = useState<Source>("archive");
  const [file, setFile] = useState<File>();
  const [found, setFound] = useState<Found>();
  const [sent, setSent] = useState<Sent>();
  const [canceled, setCanceled] = useState<string>();
  const ending = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => ending.current?.abort(), []);
  const [fault, setFault] = useState<unknown>();
  const needsLook = source !== "archive" && found === undefined;
  const work = async (): Promise<void> => {
    if (file === undefined || sent !== undefined) return;
    const own = new AbortController();
    ending.current = own;
    const sending = { signal: own.signal, onSent: setSent };
    setSent({ sent: 0, total: file.size });
    setFault(undefined);
    setCanceled(undefined);
    try {
      if (needsLook) setFound({ text: countsWords((await sendDocument(source, file, true, sending)).summary) });
      else {
        const said =
          source === "archive"
            ? archiveWords(await sendArchive(file, sending))
            : `Imported: ${countsWords((await sendDocument(source, file, false, sending)).summary)}.`;
        toast(said);
        onDone();
        onClose();
      }
    } catch (error) {
      if (!own.signal.aborted) setFault(error);
    } finally {
      setSent(undefined);
    }
  };
  const cancel = (): void => {
    if (sent === undefined) {
      onClose();
      return;
    }
    setCanceled(canceledWords(sent));
    ending.current?.abort();
    onDone();
  };
  return (
    <Dialog
      title="Import a file"
      onClose={cancel}
      onSubmit={() => void work()}
      actions={
        <>
          <Button onClick={cancel}>{sent === undefined ? "Cancel" : "Cancel upload"}</Button>
          <Button type="submit" kind="primary" busy={sent !== undefined} disabled={file === undefined}>
            {needsLook ? "Check file" : "Import file"}
          </Button>
        </>
      }
    >
      <Select
        label="From"
        value={source}
        options={SOURCES}
        disabled={sent !== undefined}
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
          disabled={sent !== undefined}
          accept=".json,.ndjson,application/json,application/x-ndjson"
          onChange={(event) => {
            setFile(event.currentTarget.files?.[0]);
            setFound(undefined);
            setFault(undefined);
            setCanceled(undefined);
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
      {sent !== undefined && (
        <div class="tm-upload">
          {/* Without a value it shows that the server's remaining time is unknown. */}
          <progress
            aria-label="Progress of the upload"
            max={1}
            {...(isSent(sent) ? {} : { value: sent.sent / sent.total })}
          />
          <p class="tm-hint">{uploadWords(sent)}</p>
        </div>
      )}
      {canceled !== undefined && <p role="status">{canceled}</p>}
      <ErrorNote error={fault} />
    </Dialog>
  );
}

async function sendDocument(
  source: Source,
  file: File,
  isDry: boolean,
  sending: Sending,
): Promise<{ readonly summary: Counts }> {
  const body = new Blob([file], { type: "application/json" });
  return upload(`/api/imports/${source}${isDry ? "?dry_run=true" : ""}`, { body, ...sending });
}

/** The server's answer about a restored archive. */
type Restored = {
  readonly counts: Counts;
  readonly missing_bytes: readonly string[];
  readonly warnings: readonly string[];
};

/** The key is made of the name, size and time of change of a file: within a day, the same file continues where a broken import ended. */
async function sendArchive(file: File, sending: Sending): Promise<Restored> {
  const body = new Blob([file], { type: "application/x-ndjson" });
  const key = `archive-${file.name}-${file.size}-${file.lastModified}`.replaceAll(/[^\x21-\x7e]/g, "_").slice(0, 200);
  const headers = { "idempotency-key": key };
  return upload<Restored>("/api/imports/archive", { body, headers, ...sending });
}

/** Describes what an archive restored, and what is still missing. */
function archiveWords({ counts, missing_bytes: missing, warnings }: Restored): string {
  const said = [`Imported: ${countsWords(counts)}.`];
  if (missing.length > 0)
    said.push(`An archive has no bytes of files, so ${counted(missing.length, "file")} cannot be downloaded.`);
  if (warnings.length > 0) said.push(`${counted(warnings.length, "warning")}, the first one: ${warnings[0]}`);
  return said.join(" ");
}

function countsWords(counts: Counts): string {
  const said = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => counted(count, what.replaceAll("_", " "), what.replaceAll("_", " ")));
  return said.length === 0 ? "nothing" : said.join(", ");
}
