import { Time } from "../../ui/time.tsx";
import { classes } from "../../ui/class-names.ts";
import { Markdown } from "../../ui/markdown.tsx";
import type { Block, Report } from "./report-types.ts";
import { PanelGrid, ReportImage, type PanelData } from "./panel-grid.tsx";

/** A report as readers see it. */
export function ReportText({ report, data }: { readonly report: Report; readonly data: PanelData }) {
  return (
    <article class="tm-report">
      <header>
        <h1>{report.title}</h1>
        {report.description !== null && <p class="tm-report-lead">{report.description}</p>}
        <p class="tm-muted">
          Changed <Time at={report.updated_at} />
          {report.share_frozen === true && data.from === "link" && data.generatedAt !== undefined && (
            <>
              {", data of "}
              <Time at={data.generatedAt} />
            </>
          )}
        </p>
      </header>
      {report.blocks.map((block, i) => (
        <BlockView key={i} block={block} data={data} place={i} />
      ))}
    </article>
  );
}

/** A block at a place of a report, as readers see it. */
export function BlockView({
  block,
  data,
  place,
}: {
  readonly block: Block;
  readonly data: PanelData;
  readonly place?: number;
}) {
  if (block.kind === "heading") {
    if (block.level === 1) return <h2 class="tm-block-h1">{block.text}</h2>;
    return block.level === 2 ? <h3 class="tm-block-h2">{block.text}</h3> : <h4>{block.text}</h4>;
  }
  if (block.kind === "markdown" || block.kind === "paragraph") {
    return block.kind === "markdown" ? <Markdown text={block.text} /> : <p class="tm-block-text">{block.text}</p>;
  }
  if (block.kind === "horizontal_rule") return <hr />;
  if (block.kind === "callout") {
    return (
      <div class={classes("tm-callout", `tm-callout-${block.variant ?? "info"}`)} role="note">
        <Markdown text={block.text} />
      </div>
    );
  }
  if (block.kind === "code") {
    return (
      <pre class="tm-preview-text" tabIndex={0} role="region" aria-label={`Code in ${block.language ?? "plain text"}`}>
        <code>{block.code}</code>
      </pre>
    );
  }
  if (block.kind === "image") return <ReportImage url={block.url} caption={block.caption} />;
  if (block.kind === "panel_grid") return <PanelGrid block={block} data={data} place={place ?? 0} />;
  return <p class="tm-block-text">{block.kind === "llm_summary" ? block.generated_text : ""}</p>;
}
