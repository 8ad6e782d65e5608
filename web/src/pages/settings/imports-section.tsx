import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { projectAddress } from "../../app/addresses.ts";
import { Link } from "../../app/location.tsx";
import { Badge } from "../../ui/status-badge.tsx";
import { Button } from "../../ui/button.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { faultOf, sentence } from "../../ui/fault.ts";
import { Skeleton } from "../../ui/spinner.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { useQuery } from "../../api/use-answer.ts";
import { DataTable } from "./data-table.tsx";
import { importLook, isOpen, type ImportJob } from "./import-jobs.ts";
import { ImportUpload } from "./import-upload.tsx";

/** Milliseconds between two looks at running imports. */
const LOOK_MS = 2000;

/** Imports from other trackers: their states, and how to begin one. */
export function ImportsSection() {
  const { data, error, reload } = useQuery<{ readonly imports: readonly ImportJob[] }>("/api/imports");
  const [isUploading, setUploading] = useState(false);
  const mayImport = may("import");
  const isWorking = data?.imports.some(({ status }) => isOpen(status)) ?? false;
  useEffect(() => {
    if (!isWorking) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [isWorking, reload]);
  const cancel = async (id: number): Promise<void> => {
    try {
      await call(`/api/imports/jobs/${id}/cancel`, { method: "POST" });
      toast("The import is canceled.");
    } catch (error) {
      toast(faultOf(error).text, { kind: "bad" });
    }
    reload();
  };
  return (
    <>
      {mayImport && (
        <div class="tm-settings-bar">
          <p class="tm-muted">Files of other trackers and archives of Tidemark become runs here.</p>
          <Button kind="primary" icon="upload" onClick={() => setUploading(true)}>
            Import a file
          </Button>
        </div>
      )}
      <ErrorNote error={error} onRetry={reload} />
      {data === undefined && error === undefined && <Skeleton lines={4} height="28px" />}
      {data?.imports.length === 0 && (
        <EmptyState icon="upload" title="No imports yet">
          <p>
            Use the command line for large histories: <code>npm run tidemark -- import --help</code>
          </p>
        </EmptyState>
      )}
      {data !== undefined && data.imports.length > 0 && (
        <DataTable label="Imports" columns={["Import", "Project", "State", "Progress", "Changed", "Actions"]}>
          {data.imports.map((job) => {
            const look = importLook(job);
            return (
              <tr key={job.id}>
                <th scope="row">
                  {job.id} from {job.source_type}
                </th>
                <td>
                  <Link href={projectAddress(job.target_project)}>{job.target_project}</Link>
                </td>
                <td>
                  <Badge kind={look.kind}>{look.label}</Badge>
                  {job.error_summary !== null && <span class="tm-hint">{sentence(job.error_summary.message)}</span>}
                </td>
                <td>
                  {look.progress}
                  {look.share !== undefined && (
                    <progress max={1} value={look.share} aria-label={`Progress of import ${job.id}`} />
                  )}
                </td>
                <td>
                  <Time at={job.updated_at} />
                </td>
                <td>
                  {mayImport && isOpen(job.status) && job.status !== "committing" && (
                    <Button size="s" aria-label={`Cancel import ${job.id}`} onClick={() => void cancel(job.id)}>
                      Cancel
                    </Button>
                  )}
                </td>
              </tr>
            );
          })}
        </DataTable>
      )}
      {isUploading && <ImportUpload onClose={() => setUploading(false)} onDone={reload} />}
    </>
  );
}
