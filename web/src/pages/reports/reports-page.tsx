import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { findProjectId } from "../../api/project-id.ts";
import { mayWrite } from "../../api/session.ts";
import { useAnswer, useQuery } from "../../api/use-answer.ts";
import { Link, navigate, useTitle } from "../../app/location.tsx";
import { attempt } from "../../ui/fault.ts";
import { Badge } from "../../ui/status-badge.tsx";
import { Button } from "../../ui/button.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { counted } from "../../ui/words.ts";
import { Skeleton } from "../../ui/spinner.tsx";
import { Time } from "../../ui/time.tsx";
import "./reports.css";
import { EmbedDialog } from "./embed-dialog.tsx";
import type { Report, ReportSummary } from "./report-types.ts";

/** The reports of a project. */
export function ReportsPage({ project }: { readonly project: string }) {
  useTitle("Reports", project);
  const found = useAnswer(project, (signal, again) => findProjectId(project, { signal, again }));
  const projectId = found.data ?? undefined;
  const read = useQuery<{ reports: ReportSummary[]; total: number }>(
    projectId === undefined ? undefined : `/api/reports?project=${projectId}&limit=200`,
  );
  const [isEmbedding, setEmbedding] = useState(false);
  const create = (): void =>
    void attempt(async () => {
      const body = { title: "Untitled report", project_id: projectId, blocks: [] };
      const { report } = await call<{ report: Report }>("/api/reports", { body });
      navigate(`/reports/${report.id}?edit=1`);
    });
  const reports = read.data?.reports;
  const actions = mayWrite() && projectId !== undefined && (
    <Button kind="primary" icon="plus" onClick={create}>
      Write report
    </Button>
  );
  return (
    <div class="tm-reports">
      <header class="tm-tools">
        <h1>Reports</h1>
        <span class="tm-reports-actions">
          {projectId !== undefined && (
            <Button icon="share" onClick={() => setEmbedding(true)}>
              Embed runs
            </Button>
          )}
          {actions}
        </span>
      </header>
      <ErrorNote error={found.error ?? read.error} onRetry={found.error === undefined ? read.reload : found.reload} />
      {found.data === null && <EmptyState title="Project not found" icon="search" />}
      {reports === undefined && read.isLoading && <Skeleton lines={5} height="40px" />}
      {reports?.length === 0 && (
        <EmptyState title="No reports yet" icon="report" actions={actions}>
          Put charts, tables of runs and what you learned from them on one page, and share it with a link.
        </EmptyState>
      )}
      <ul class="tm-report-list">
        {(reports ?? []).map((report) => (
          <li key={report.id}>
            <Link href={`/reports/${report.id}`}>{report.title}</Link>
            {report.description !== null && <p class="tm-muted">{report.description}</p>}
            <p class="tm-report-facts">
              {report.visibility === "public" && <Badge kind="warn">public</Badge>}
              {report.has_share_token && <Badge kind="info">shared by link</Badge>}
              <span class="tm-muted">
                {counted(report.block_count, "block")}, changed <Time at={report.updated_at} />
              </span>
            </p>
          </li>
        ))}
      </ul>
      {isEmbedding && projectId !== undefined && (
        <EmbedDialog projectId={projectId} onClose={() => setEmbedding(false)} />
      )}
    </div>
  );
}
