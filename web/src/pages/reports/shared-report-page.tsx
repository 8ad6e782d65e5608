import { useTitle } from "../../app/title.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { useQuery } from "../../api/use-query.ts";
import { ReportText } from "./report-text.tsx";
import type { Report } from "./report-types.ts";
import "./reports.css";

/** A report that a share link opens, for people who are not signed in as well. */
export function SharedReportPage({ token }: { readonly token: string }) {
  const read = useQuery<{ report: Report }>(`/api/reports/share/${encodeURIComponent(token)}`);
  useTitle(read.data?.report.title ?? "Report");
  if (read.error !== undefined) {
    return (
      <EmptyState title="This link does not work any more" icon="link">
        It was replaced, it expired, or the report was deleted. Ask whoever sent it for a new one.
      </EmptyState>
    );
  }
  if (read.data === undefined) return <Skeleton lines={8} height="24px" />;
  return <ReportText report={read.data.report} canReadRuns={false} />;
}
