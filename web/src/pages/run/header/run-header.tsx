import { useState } from "preact/hooks";
import { addressOf } from "../../../api/base-path.ts";
import type { RunDetail } from "../../../api/run-types.ts";
import { mayControl, mayWrite } from "../../../api/session.ts";
import { projectAddress, runAddress } from "../../../app/addresses.ts";
import { useKeys } from "../../../app/keys.ts";
import { navigate } from "../../../app/location.tsx";
import { attempt } from "../../../ui/fault.ts";
import { Badge, StatusBadge } from "../../../ui/status-badge.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { copyText } from "../../../ui/copy-button.tsx";
import { Menu, type MenuItem } from "../../../ui/menu.tsx";
import { TextField } from "../../../ui/field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { changeRun } from "../run-actions.ts";
import { mayTransfer } from "../../project/bulk/transfer-calls.ts";
import { TransferDialog } from "../../project/bulk/transfer-dialog.tsx";
import { DeleteDialog, ForkDialog } from "./run-dialogs.tsx";
import { RunTags } from "./run-tags.tsx";
import { Duration } from "./duration.tsx";
import { StopControl, StopState } from "./stop-control.tsx";

/** Name, state and tags of a run in one line, with what can be done to it; while it stops, how far that has come. */
export function RunHeader({ run, reload }: { readonly run: RunDetail; readonly reload: () => void }) {
  const [dialog, setDialog] = useState<"fork" | "move" | "copy" | "delete">();
  const canWrite = mayWrite();
  const canControl = mayControl();
  const file = (format: string): string => `/api/export?format=${format}&run_ids=${encodeURIComponent(run.id)}`;
  const items: MenuItem[] = [
    { label: "Copy run ID", icon: "copy", onSelect: () => void copyId(run.id) },
    { label: "Download as JSON", icon: "download", onSelect: () => download(file("json")) },
    { label: "Download as CSV", icon: "download", onSelect: () => download(file("csv")) },
    ...(canWrite ? [{ label: "Fork run", icon: "fork", onSelect: () => setDialog("fork") } as const] : []),
    ...(mayTransfer()
      ? ([
          { label: "Move to project…", icon: "move", onSelect: () => setDialog("move") },
          { label: "Copy to project…", icon: "copy", onSelect: () => setDialog("copy") },
        ] as const)
      : []),
    ...(canControl
      ? (["line", { label: "Delete run", icon: "trash", danger: true, onSelect: () => setDialog("delete") }] as const)
      : []),
  ];
  useKeys(
    {},
    {
      label: "Run",
      actions: items.flatMap((item) =>
        item === "line" ? [] : [{ label: item.label, icon: item.icon ?? "chart", run: item.onSelect }],
      ),
    },
  );
  return (
    <header class="tm-run-head">
      <div class="tm-run-title">
        <RunName run={run} canWrite={canWrite} reload={reload} />
        <StatusBadge status={run.run_control.display_status} stale={run.stale} />
        <span class="tm-muted tm-run-duration" title="Duration">
          <Duration run={run} />
        </span>
        <RunTags run={run} canWrite={canWrite} reload={reload} />
        <div class="tm-run-actions">
          <StopControl run={run} canControl={canControl} reload={reload} />
          <Menu label="More actions" items={items} button={{ icon: "more", kind: "plain" }} align="end" />
        </div>
      </div>
      {run.run_control.display_status === "stopping" && <StopState run={run} />}
      {dialog === "fork" && <ForkDialog run={run} onClose={() => setDialog(undefined)} />}
      {(dialog === "move" || dialog === "copy") && (
        <TransferDialog
          how={dialog}
          project={run.project}
          runs={{ ids: [run.id] }}
          count={1}
          onClose={() => setDialog(undefined)}
          onDone={(project) => dialog === "move" && navigate(runAddress(project, run.id, "overview"))}
        />
      )}
      {dialog === "delete" && (
        <DeleteDialog
          run={run}
          onClose={() => setDialog(undefined)}
          onDeleted={() => navigate(projectAddress(run.project))}
          onRestored={() => navigate(runAddress(run.project, run.id, "overview"))}
        />
      )}
    </header>
  );
}

function RunName({
  run,
  canWrite,
  reload,
}: {
  readonly run: RunDetail;
  readonly canWrite: boolean;
  readonly reload: () => void;
}) {
  const [draft, setDraft] = useState<string>();
  if (draft === undefined) {
    return (
      <>
        <h1 title={run.name}>{run.name}</h1>
        {run.deleted_at !== undefined && run.deleted_at !== null && <Badge kind="bad">Deleted</Badge>}
        {canWrite && <IconButton icon="edit" label="Rename run" size="s" onClick={() => setDraft(run.name)} />}
      </>
    );
  }
  const save = (): void => {
    const name = draft.trim();
    if (name === "" || name === run.name) return setDraft(undefined);
    void attempt(
      () => changeRun(run.id, { name }, { name: run.name }, `Renamed to ${name}.`, reload),
      () => setDraft(undefined),
    );
  };
  return (
    <form
      class="tm-run-rename"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") setDraft(undefined);
      }}
    >
      <TextField label="Name of the run" hideLabel value={draft} onInput={setDraft} maxLength={512} autofocus />
      <Button type="submit" kind="primary">
        Rename
      </Button>
      <Button kind="quiet" onClick={() => setDraft(undefined)}>
        Cancel
      </Button>
    </form>
  );
}

async function copyId(id: string): Promise<void> {
  if (await copyText(id)) toast("Copied.");
}

/** The answer is an attachment, so that the page stays. */
function download(path: string): void {
  const link = document.createElement("a");
  link.href = addressOf(path);
  link.download = "";
  link.click();
}
