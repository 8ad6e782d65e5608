import { useMemo, useState } from "preact/hooks";
import { ApiError, call } from "../../api/client.ts";
import { findProject } from "../../api/project-id.ts";
import { mayWrite, session } from "../../api/session.ts";
import { useAnswer, useQuery } from "../../api/use-answer.ts";
import { projectPageAddress } from "../../app/addresses.ts";
import { currentLocation, Link, navigate, setQuery, useTitle } from "../../app/location.tsx";
import { attempt } from "../../ui/fault.ts";
import { Badge } from "../../ui/status-badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { toast } from "../../ui/toast.tsx";
import "./reports.css";
import { ReportEditor } from "./report-editor.tsx";
import { ReportText } from "./report-text.tsx";
import type { Report } from "./report-types.ts";
import type { PanelData } from "./panel-grid.tsx";
import { ShareDialog } from "./share-dialog.tsx";
import { useSharedData } from "./use-shared-data.ts";

/** A report, to read and to write. */
export function ReportPage({ reportId }: { readonly reportId: string }) {
  const { query } = currentLocation.value;
  const share = query.get("share");
  const read = useQuery<{ report: Report }>(
    `/api/reports/${encodeURIComponent(reportId)}${share === null ? "" : `?share=${encodeURIComponent(share)}`}`,
  );
  const report = read.data?.report;
  const isMember = report?.org_id !== undefined && session.value !== undefined;
  const projectId = isMember ? (report.project_id ?? undefined) : undefined;
  const project = useAnswer(projectId, (signal) => findProject(projectId!, { signal })).data ?? undefined;
  const shared = usePanelData(isMember ? undefined : report, share ?? "");
  const [dialog, setDialog] = useState<"share" | "delete">();
  useTitle(report?.title ?? "Report", ...(project === undefined ? [] : [project.name]));
  if (report === undefined) {
    if (read.error instanceof ApiError && read.error.status === 404) {
      return <EmptyState title="Report not found" icon="search" />;
    }
    return (
      <div class="tm-reports">
        <ErrorNote error={read.error} onRetry={read.reload} />
        {read.error === undefined && <Skeleton lines={8} height="24px" />}
      </div>
    );
  }
  const canWrite = isMember && mayWrite();
  const isEditing = canWrite && query.has("edit");
  const back = project === undefined ? "/" : projectPageAddress(project.name, "reports");
  const remove = (): void =>
    void attempt(async () => {
      await call(`/api/reports/${report.id}`, { method: "DELETE" });
      toast(`Deleted ${report.title}.`);
      navigate(back);
    });
  return (
    <div class="tm-reports">
      {isMember && (
        <nav class="tm-tools" aria-label="Report">
          <Link href={back}>All reports</Link>
          {report.visibility === "public" && <Badge kind="warn">public</Badge>}
          {canWrite && (
            <span class="tm-reports-actions">
              <Button
                icon={isEditing ? "check" : "edit"}
                kind={isEditing ? "primary" : "plain"}
                onClick={() => {
                  setQuery({ edit: isEditing ? undefined : "1" });
                  if (isEditing) read.reload();
                }}
              >
                {isEditing ? "Done" : "Edit"}
              </Button>
              <Button icon="share" onClick={() => setDialog("share")}>
                Share
              </Button>
              <Button icon="trash" kind="quiet" onClick={() => setDialog("delete")}>
                Delete
              </Button>
            </span>
          )}
        </nav>
      )}
      {isEditing ? (
        <ReportEditor key={report.id} report={report} project={project} reload={read.reload} />
      ) : (
        <ReportText report={report} data={isMember ? { from: "reader" } : shared} />
      )}
      {dialog === "share" && (
        <ShareDialog report={report} onClose={() => setDialog(undefined)} onChanged={read.reload} />
      )}
      {dialog === "delete" && (
        <Dialog
          title={`Delete ${report.title}?`}
          onClose={() => setDialog(undefined)}
          onSubmit={remove}
          actions={
            <>
              <Button onClick={() => setDialog(undefined)}>Cancel</Button>
              <Button kind="danger" type="submit">
                Delete report
              </Button>
            </>
          }
        >
          <p>This cannot be undone. Links to the report stop working; its runs are kept.</p>
        </Dialog>
      )}
    </div>
  );
}

/** A report that a share link opens, for people who are not signed in as well. */
export function SharedReportPage({ token }: { readonly token: string }) {
  const read = useQuery<{ report: Report }>(`/api/reports/share/${encodeURIComponent(token)}`);
  const data = usePanelData(read.data?.report, token);
  useTitle(read.data?.report.title ?? "Report");
  if (read.error !== undefined) {
    return (
      <EmptyState title="This link no longer works" icon="link">
        It was replaced, it expired, or the report was deleted. Ask whoever sent it for a new one.
      </EmptyState>
    );
  }
  return (
    <div class="tm-reports">
      {read.data === undefined ? (
        <Skeleton lines={8} height="24px" />
      ) : (
        <ReportText report={read.data.report} data={data} />
      )}
    </div>
  );
}

/** The data of the panels for a holder of a share link, as far as the link opens them. */
function usePanelData(report: Report | undefined, token: string): PanelData {
  const isOpen = report?.share_extent === "data";
  const { data, error } = useSharedData(isOpen ? token : undefined, report?.share_frozen === true);
  return useMemo((): PanelData => {
    if (!isOpen) return { from: "nowhere" };
    return data === undefined
      ? { from: "link", error }
      : { from: "link", grid: (place) => data.grids.get(place), generatedAt: data.generatedAt };
  }, [isOpen, data, error]);
}
