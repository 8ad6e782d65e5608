import { useState } from "preact/hooks";
import { call } from "../../../api/client.ts";
import { useQuery } from "../../../api/use-answer.ts";
import { attempt } from "../../../ui/fault.ts";
import { Button } from "../../../ui/button.tsx";
import { ErrorNote } from "../../../ui/page-states.tsx";
import { Markdown } from "../../../ui/markdown.tsx";
import { Skeleton } from "../../../ui/spinner.tsx";
import { TextField } from "../../../ui/field.tsx";
import { changeRun, type TabProps } from "../run-actions.ts";

/** The notes of a run, and their editor. */
export function Notes({ run, canWrite, reload }: Pick<TabProps, "run" | "canWrite" | "reload">) {
  const [draft, setDraft] = useState<string>();
  const save = (): void => {
    const notes = draft?.trim() ?? "";
    void attempt(
      () => changeRun(run.id, { notes }, { notes: run.notes ?? "" }, "Saved the notes.", reload),
      () => setDraft(undefined),
    );
  };
  return (
    <section class="tm-panel" aria-labelledby="run-notes">
      <header>
        <h2 id="run-notes">Notes</h2>
        {canWrite && draft === undefined && (
          <Button size="s" kind="quiet" icon="edit" onClick={() => setDraft(run.notes ?? "")}>
            Edit notes
          </Button>
        )}
      </header>
      {draft === undefined ? (
        <p class={run.notes === null || run.notes === "" ? "tm-muted" : "tm-run-notes"}>{run.notes || "No notes."}</p>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save();
          }}
        >
          <TextField label="Notes" hideLabel rows={3} maxLength={512} value={draft} onInput={setDraft} autofocus />
          <p class="tm-form-row">
            <Button type="submit" kind="primary" size="s">
              Save notes
            </Button>
            <Button size="s" kind="quiet" onClick={() => setDraft(undefined)}>
              Cancel
            </Button>
          </p>
        </form>
      )}
    </section>
  );
}

/** The readme of a run, and its editor. */
export function Readme({
  runId,
  version,
  canWrite,
}: {
  readonly runId: string;
  readonly version: number;
  readonly canWrite: boolean;
}) {
  const path = `/api/runs/${runId}/readme`;
  const read = useQuery<{ markdown: string }>(path, { version });
  const [draft, setDraft] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const text = read.data?.markdown ?? "";
  const save = async (): Promise<void> => {
    setBusy(true);
    await attempt(async () => {
      await call(path, { method: "PUT", body: { markdown: draft ?? "" } });
      read.reload();
      setDraft(undefined);
    });
    setBusy(false);
  };
  return (
    <section class="tm-panel" aria-labelledby="run-readme">
      <header>
        <h2 id="run-readme">Readme</h2>
        {canWrite && draft === undefined && read.data !== undefined && (
          <Button size="s" kind="quiet" icon="edit" onClick={() => setDraft(text)}>
            {text === "" ? "Write readme" : "Edit readme"}
          </Button>
        )}
      </header>
      <ErrorNote error={read.error} onRetry={read.reload} />
      {read.data === undefined && read.error === undefined && <Skeleton lines={4} />}
      {draft !== undefined && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <TextField label="Readme in Markdown" rows={14} mono value={draft} onInput={setDraft} autofocus />
          <p class="tm-form-row">
            <Button type="submit" kind="primary" size="s" busy={isBusy}>
              Save readme
            </Button>
            <Button size="s" kind="quiet" onClick={() => setDraft(undefined)}>
              Cancel
            </Button>
          </p>
          {draft.trim() !== "" && <Markdown text={draft} />}
        </form>
      )}
      {draft === undefined && text !== "" && <Markdown text={text} />}
      {draft === undefined && read.data !== undefined && text === "" && (
        <p class="tm-muted">No readme. Write down what this run is about, what you expected and what came out.</p>
      )}
    </section>
  );
}
