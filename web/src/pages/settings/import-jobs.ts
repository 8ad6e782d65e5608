import { counted, countWords } from "../../ui/words.ts";

/** The fields of an import in its list that are shown. */
export type ImportJob = {
  readonly id: number;
  readonly source_type: string;
  readonly target_project: string;
  readonly status: string;
  readonly summary: Readonly<Record<string, number>>;
  readonly warnings: readonly { readonly message: string }[];
  readonly error_summary: { readonly message: string } | null;
  readonly progress: { readonly batches: number; readonly batches_done: number; readonly chunks: number };
  readonly updated_at: string;
};

/** How an import is shown; `share` is the part of its commit that is done. */
export type ImportLook = {
  readonly kind: "plain" | "good" | "warn" | "bad" | "info";
  readonly label: string;
  readonly progress: string;
  readonly share: number | undefined;
};

const KINDS: Readonly<Record<string, ImportLook["kind"]>> = {
  committed: "good",
  completed: "good",
  failed: "bad",
  cancelled: "warn",
  committing: "info",
  uploading: "info",
};

const LABELS: Readonly<Record<string, string>> = {
  created: "Started",
  uploading: "Uploading",
  dry_run_ready: "Ready to commit",
  committing: "Committing",
  committed: "Done",
  completed: "Done",
  failed: "Failed",
  cancelled: "Canceled",
};

/** Whether an import may still change. */
export function isOpen(status: string): boolean {
  return ["created", "uploading", "dry_run_ready", "committing"].includes(status);
}

/** Returns how an import is shown. */
export function importLook({ status, summary, progress, warnings }: ImportJob): ImportLook {
  const label = LABELS[status] ?? status;
  const { batches, batches_done: done, chunks } = progress;
  const isCommitting = status === "committing" && batches > 0;
  const runs = summary["runs"] ?? 0;
  const said = isCommitting
    ? `${countWords(done)} of ${counted(batches, "batch", "batches")}`
    : runs > 0
      ? counted(runs, "run")
      : counted(chunks, "chunk");
  return {
    kind: KINDS[status] ?? "plain",
    label,
    progress: warnings.length === 0 ? said : `${said}, ${counted(warnings.length, "warning")}`,
    share: isCommitting ? done / batches : undefined,
  };
}
