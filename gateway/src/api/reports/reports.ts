import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { PANELS_PAGE_ROWS, REPORTS_PAGE_ROWS, REPORT_VISIBILITIES } from "@tidemark/limits";
import type {
  CreateReportRequestSchema,
  GetReportRequestSchema,
  GetSharedReportRequestSchema,
  ListPanelsRequestSchema,
  ListPanelsResponse,
  ListReportsRequest,
  ListReportsRequestSchema,
  ListReportsResponse,
  Report,
  UpdateReportRequestSchema,
} from "@tidemark/proto/reports/v1/reports";
import { BLOCKS, blocksSchema, writeMarkdown } from "@tidemark/report-blocks";
import { raw } from "../../http/json.ts";
import type { RouteInput, RouteReply } from "../../route.ts";
import { writeDocument } from "../fields/document.ts";
import {
  checked,
  described,
  join,
  object,
  optional,
  required,
  someOf,
  withFault,
  type Field,
} from "../fields/field.ts";
import { limit } from "../fields/number.ts";
import { maybeBlankText, queryText, text, textOrAbsent, uuid, word } from "../fields/text.ts";
import { pageQuery, readPage } from "../parameters.ts";
import { requireMessage, secretReply } from "../replies.ts";
import { reportJson, reportSummaryJson } from "./rows.ts";

const utf8 = new TextEncoder();

/**
 * The blocks of a report, which are read as JSON. The service checks them by the rules that the schema is made from; their size is also checked here,
 * before any time is spent on them.
 */
const blocks: Field<Uint8Array> = required(blocksSchema, (value, name) =>
  utf8.encode(writeDocument(value, name, { unstorable: "keep", bytesMax: BLOCKS.bytesMax })),
);

const reportsPage = pageQuery(REPORTS_PAGE_ROWS);
const projectFilter = object({
  project: queryText({
    description:
      "Name or id of a project; `all` means all reports. The list of a project that does not exist is empty.",
  }),
});

/** Query of GET /api/reports. */
export const listReportsQuery = join(projectFilter, reportsPage);

/** GET /api/reports. @throws bad_request */
export function decodeListReports({ query }: RouteInput): MessageInitShape<typeof ListReportsRequestSchema> {
  const { project } = projectFilter.read(query);
  return { ...readPage(reportsPage, query), project: project.trim() === "all" ? "" : project.trim() };
}

/** `{"reports": [row, …], limit, offset, total}` */
export function encodeListReports(
  { reports, total }: ListReportsResponse,
  { limit: rows, offset }: Partial<Pick<ListReportsRequest, "limit" | "offset">>,
): RouteReply {
  return {
    body: {
      reports: reports.map(reportSummaryJson),
      limit: rows ?? REPORTS_PAGE_ROWS.default,
      offset: Number(offset ?? 0n),
      total: Number(total),
    },
  };
}

const visibility = described(
  word(REPORT_VISIBILITIES),
  "`private` and `org`: the organization; `public`: every caller.",
);

/** Body of POST /api/reports. */
export const createReportBody = object({
  title: text(),
  description: textOrAbsent(),
  visibility: optional(visibility),
  project_id: described(optional(uuid()), "Whether it exists is not checked."),
  blocks: optional(blocks),
});

/** POST /api/reports. @throws bad_request */
export function decodeCreateReport({ body }: RouteInput): MessageInitShape<typeof CreateReportRequestSchema> {
  const { blocks: blocksJson, ...report } = createReportBody.read(body);
  return { ...report, ...(blocksJson === undefined ? {} : { blocksJson }) };
}

/** Body of PATCH /api/reports/{report_id}. */
export const updateReportBody = checked(
  object({
    title: optional(text()),
    description: described(optional(maybeBlankText()), "A blank one takes it away."),
    visibility: optional(visibility),
    blocks: optional(blocks),
  }),
  (change) => {
    if (Object.values(change).some((part) => part !== undefined)) return;
    throw badRequest("one of title, description, visibility and blocks is required");
  },
  someOf("title", "description", "visibility", "blocks"),
);

/** PATCH /api/reports/{report_id}. Faults travel in the message, because a missing report takes precedence. */
export function decodeUpdateReport({ params, body }: RouteInput): MessageInitShape<typeof UpdateReportRequestSchema> {
  const { value, fault } = withFault(() => updateReportBody.read(body));
  const { blocks: blocksJson, ...same } = value ?? {};
  return { reportId: params["report_id"]!, ...same, blocksJson, bodyFault: fault };
}

/** DELETE and POST …/share of /api/reports/{report_id}. */
export function decodeReportId({ params }: RouteInput): { reportId: string } {
  return { reportId: params["report_id"]! };
}

/** Query of GET /api/reports/{report_id}. */
export const getReportQuery = object({
  share: queryText({ description: "A share token. Readers of the organization need none." }),
});

/** GET /api/reports/{report_id}, also as Markdown. */
export function decodeGetReport({ params, query }: RouteInput): MessageInitShape<typeof GetReportRequestSchema> {
  return { reportId: params["report_id"]!, shareToken: getReportQuery.read(query).share.trim() };
}

/** GET /api/reports/share/{share_token}. */
export function decodeGetSharedReport({ params }: RouteInput): MessageInitShape<typeof GetSharedReportRequestSchema> {
  return { shareToken: params["share_token"]! };
}

type WithReport = { readonly report?: Report | undefined };

/** `{"report": row}` */
export function encodeReport({ report }: WithReport): RouteReply {
  return { body: { report: reportJson(requireMessage(report)) } };
}

/** `{"report": row}` with the token, which no cache may keep. */
export function encodeShareReport({ report }: WithReport): RouteReply {
  return secretReply({ report: reportJson(requireMessage(report)) });
}

/** A report shared by a link may change at any moment, so caches must not keep it. */
export function encodeOpenReport(response: WithReport): RouteReply {
  return { ...encodeReport(response), headers: { "cache-control": "private, no-cache" } };
}

const utf8Text = new TextDecoder();

/** The report as Markdown, which a browser does not render as a page. */
export function encodeMarkdown({ report }: WithReport): RouteReply {
  const { title, description, blocksJson } = requireMessage(report);
  const written = writeMarkdown({ title, description, blocks: JSON.parse(utf8Text.decode(blocksJson)) as unknown[] });
  return {
    body: raw(written),
    headers: {
      "content-type": "text/markdown; charset=utf-8",
      "cache-control": "private, no-cache",
      "x-content-type-options": "nosniff",
    },
  };
}

/** Query of GET /api/reports/panels. */
export const listPanelsQuery = object({ limit: limit(PANELS_PAGE_ROWS), cursor: queryText() });

/** GET /api/reports/panels. @throws bad_request */
export function decodeListPanels({ query }: RouteInput): MessageInitShape<typeof ListPanelsRequestSchema> {
  return listPanelsQuery.read(query);
}

/** `{"panels": [{report_id, report_title, panel_index, panel_spec}, …], next_cursor}` */
export function encodeListPanels({ panels, nextCursor }: ListPanelsResponse): RouteReply {
  return {
    body: {
      panels: panels.map(({ reportId, reportTitle, panelIndex, specJson }) => ({
        report_id: reportId,
        report_title: reportTitle,
        panel_index: panelIndex,
        panel_spec: raw(utf8Text.decode(specJson)),
      })),
      next_cursor: nextCursor === "" ? null : nextCursor,
    },
  };
}
