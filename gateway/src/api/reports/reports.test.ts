import { describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import {
  GetReportResponseSchema,
  ListPanelsResponseSchema,
  ListReportsResponseSchema,
} from "@tidemark/proto/reports/v1/reports";
import { parseJsonObject } from "@tidemark/documents";
import { writeJson } from "../../http/json.ts";
import { describeBody, inputOf } from "../route-input.fixture.ts";
import { bodyOf } from "../response-schema.fixture.ts";
import {
  decodeCreateReport,
  decodeGetReport,
  decodeListPanels,
  decodeListReports,
  decodeUpdateReport,
  encodeListPanels,
  encodeListReports,
  encodeMarkdown,
  encodeOpenReport,
  encodeShareReport,
} from "./reports.ts";

const id = "0c9b8a1e-2222-4222-8333-444455556666";
const utf8 = new TextEncoder();

describeBody(
  "POST /api/reports",
  decodeCreateReport,
  [
    ["a title alone", { title: " t " }, { title: "t" }],
    [
      "everything",
      { title: "t", description: " d ", visibility: "org", project_id: id.toUpperCase(), blocks: [{ kind: "x" }] },
      { title: "t", description: "d", visibility: "org", projectId: id, blocksJson: utf8.encode('[{"kind":"x"}]') },
    ],
    [
      "nulls and a blank description as absent",
      { title: "t", description: " ", visibility: null, blocks: null },
      { title: "t" },
    ],
  ],
  [
    ["a title of 513 bytes", { title: "t".repeat(513) }, "title"],
    ["a description of 513 bytes", { title: "t", description: "d".repeat(513) }, "description"],
    ["an unknown visibility", { title: "t", visibility: "all" }, "visibility"],
    ["a project that is not a UUID", { title: "t", project_id: "p" }, "project_id"],
    ["a number beyond double range in a block", { title: "t", blocks: [{ kind: "x", n: Infinity }] }, "blocks"],
  ],
);

test("blocks keep long integers, NUL and lone surrogates", () => {
  const sent = String.raw`{"title":"t","blocks":[{"n":12345678901234567890,"t":"\u0000\ud800"}]}`;
  const body = parseJsonObject(Buffer.from(sent), true);
  const { blocksJson } = decodeCreateReport(inputOf({ body }));
  expect(new TextDecoder().decode(blocksJson)).toBe(String.raw`[{"n":12345678901234567890,"t":"\u0000\ud800"}]`);
});

describe("PATCH /api/reports/{report_id}", () => {
  const decode = (body: Record<string, unknown>) => decodeUpdateReport(inputOf({ params: { report_id: id }, body }));

  test("distinguishes a blank description from a missing one", () => {
    expect(decode({ title: "t" })).toEqual({ reportId: id, title: "t" });
    expect(decode({ description: " " })).toEqual({ reportId: id, description: "" });
  });

  test.each([
    ["nothing", {}, ""],
    ["nulls", { title: null, description: null }, ""],
    ["a blank title", { title: "" }, "title"],
    ["a visibility that is not a string", { visibility: 1 }, "visibility"],
  ])("sends on the fault of %s", (_, body, field) => {
    expect(decode(body)).toMatchObject({ reportId: id, bodyFault: { field, text: expect.any(String) } });
  });
});

describe("queries", () => {
  test("of the list: `all` is not a project", () => {
    const page = { limit: 50, offset: 0n };
    expect(decodeListReports(inputOf({}))).toEqual({ ...page, project: "" });
    expect(decodeListReports(inputOf({ query: { project: "all" } }))).toEqual({ ...page, project: "" });
    expect(decodeListReports(inputOf({ query: { project: id, limit: "200", offset: "7" } }))).toEqual({
      limit: 200,
      offset: 7n,
      project: id,
    });
  });

  test("of a report take a share token", () => {
    const input = { params: { report_id: id }, query: { share: "tm_share_x" } };
    expect(decodeGetReport(inputOf(input))).toEqual({ reportId: id, shareToken: "tm_share_x" });
  });

  test("of panels have 1,000 rows at most", () => {
    expect(decodeListPanels(inputOf({ query: { cursor: "c" } }))).toEqual({ limit: 1000, cursor: "c" });
    expect(() => decodeListPanels(inputOf({ query: { limit: "1001" } }))).toThrow(
      expect.objectContaining({ field: "limit" }),
    );
  });
});

const report = {
  id,
  orgId: id,
  title: "T",
  description: "d",
  visibility: "public",
  authorUserId: id,
  blocksJson: utf8.encode('[{"kind":"paragraph","text":"<b>","n":1.0}]'),
  createdAt: "2026-01-02T03:04:05Z",
  updatedAt: "2026-01-02T03:04:06Z",
};
const response = (more: object = {}) => create(GetReportResponseSchema, { report: { ...report, ...more } });

describe("answers", () => {
  test("show members everything, and the token where it was created", () => {
    const route = "POST /api/reports/{report_id}/share";
    const reply = encodeShareReport(response({ shareToken: "tm_share_x", shareTokenIssuedAt: "2026-01-02T03:04:07Z" }));
    expect(reply.headers).toEqual({ "cache-control": "no-store" });
    expect(bodyOf(reply, route)).toEqual({
      report: {
        schema_version: 1,
        id,
        org_id: id,
        project_id: null,
        title: "T",
        description: "d",
        blocks: [{ kind: "paragraph", text: "<b>", n: 1 }],
        created_at: "2026-01-02T03:04:05Z",
        updated_at: "2026-01-02T03:04:06Z",
        author_user_id: id,
        share_token: "tm_share_x",
        share_token_issued_at: "2026-01-02T03:04:07Z",
        visibility: "public",
        deleted_at: null,
      },
    });
  });

  test("show other callers neither organization nor author nor token, even if the service sends them", () => {
    const reply = encodeOpenReport(response({ orgId: "", shareToken: "tm_share_x" }));
    const shown = bodyOf(reply, "GET /api/reports/{report_id}")["report"] as object;
    for (const hidden of ["org_id", "author_user_id", "share_token"]) expect(shown).not.toHaveProperty(hidden);
    expect(writeJson(reply.body)).toContain('"n":1.0');
    expect(reply.headers).toEqual({ "cache-control": "private, no-cache" });
  });

  test("as Markdown are text that no browser takes for a page", () => {
    const { body, headers } = encodeMarkdown(response());
    expect(writeJson(body)).toBe("# T\n\nd\n\n<b>\n\n");
    expect(headers).toMatchObject({
      "content-type": "text/markdown; charset=utf-8",
      "x-content-type-options": "nosniff",
    });
  });

  test("of lists fit their schemas", () => {
    const { blocksJson: _blocks, orgId: _org, ...summary } = report;
    const list = create(ListReportsResponseSchema, { reports: [{ ...summary, blockCount: 2 }], total: 9n });
    expect(bodyOf(encodeListReports(list, { limit: 5, offset: 3n }), "GET /api/reports")).toMatchObject({
      reports: [{ id, block_count: 2, has_share_token: false, project_id: null }],
      limit: 5,
      offset: 3,
      total: 9,
    });
    const panel = { reportId: id, reportTitle: "T", panelIndex: 1, specJson: utf8.encode('{"type":"line"}') };
    const panels = create(ListPanelsResponseSchema, { panels: [panel], nextCursor: "" });
    expect(bodyOf(encodeListPanels(panels), "GET /api/reports/panels")).toEqual({
      panels: [{ report_id: id, report_title: "T", panel_index: 1, panel_spec: { type: "line" } }],
      next_cursor: null,
    });
  });
});
