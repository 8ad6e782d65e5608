import { Time } from "../../ui/time.tsx";
import { BlockView } from "./block-view.tsx";
import type { Report } from "./report-types.ts";

/** A report as readers see it. */
export function ReportText({ report, canReadRuns }: { readonly report: Report; readonly canReadRuns: boolean }) {
  return (
    <article class="tm-report">
      <header>
        <h1>{report.title}</h1>
        {report.description !== null && <p class="tm-report-lead">{report.description}</p>}
        <p class="tm-muted">
          Changed <Time at={report.updated_at} />
        </p>
      </header>
      {report.blocks.map((block, i) => (
        <BlockView key={i} block={block} canReadRuns={canReadRuns} />
      ))}
    </article>
  );
}
