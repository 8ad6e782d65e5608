import { describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import {
  CreateViewResponseSchema,
  DeleteViewResponseSchema,
  ExportViewResponseSchema,
  ImportViewResponseSchema,
  ListViewsResponseSchema,
} from "@tidemark/proto/reports/v1/views";
import { parseJsonObject } from "@tidemark/documents";
import { describeBody, inputOf } from "../route-input.fixture.ts";
import { bodyOf } from "../response-schema.fixture.ts";
import { decodeImportView, encodeExportView, encodeImportView } from "./exchange.ts";
import {
  decodeCreateView,
  decodeDeleteView,
  decodeListViews,
  decodeUpdateView,
  encodeDeleteView,
  encodeListViews,
  encodeView,
} from "./views.ts";

const id = "0c9b8a1e-2222-4222-8333-444455556666";
const utf8 = new TextEncoder();
const view = (body: Record<string, unknown>) => inputOf({ params: { view_id: id }, body });

describeBody(
  "POST /api/workspace-views",
  decodeCreateView,
  [
    ["a name alone", { name: " n " }, { name: "n" }],
    [
      "everything",
      { name: "n", project: "p", payload: { a: "\0" } },
      { name: "n", project: "p", payloadJson: utf8.encode(String.raw`{"a":"\u0000"}`) },
    ],
    ["a blank project and null as absent", { name: "n", project: " ", payload: null, visibility: null }, { name: "n" }],
    ["a view that is shared", { name: "n", visibility: "organization" }, { name: "n", visibility: "organization" }],
    ["a view that is private", { name: "n", visibility: "private" }, { name: "n", visibility: "private" }],
  ],
  [
    ["a blank name", { name: "" }, "name"],
    ["a project of 513 bytes", { name: "n", project: "p".repeat(513) }, "project"],
    ["a payload that is a text", { name: "n", payload: "{}" }, "payload"],
    ["a visibility that is not a string", { name: "n", visibility: true }, "visibility"],
  ],
);

test("a change may be empty, and a blank project takes it away", () => {
  expect(decodeUpdateView(view({}))).toEqual({ viewId: id });
  expect(decodeUpdateView(view({ project: " ", payload: {} }))).toEqual({
    viewId: id,
    project: "",
    payloadJson: utf8.encode("{}"),
  });
  expect(decodeUpdateView(view({ visibility: "organization" }))).toEqual({ viewId: id, visibility: "organization" });
  expect(decodeUpdateView(view({ visibility: "public" }))).toMatchObject({
    viewId: id,
    bodyFault: { field: "visibility" },
  });
  expect(decodeUpdateView(view({ name: "" }))).toMatchObject({ viewId: id, bodyFault: { field: "name" } });
});

describe("DELETE /api/workspace-views/{view_id}", () => {
  const decode = (query: Record<string, string>) => decodeDeleteView(inputOf({ params: { view_id: id }, query }));

  test("reads the moment in any form of the same one", () => {
    for (const moment of ["2026-01-02T03:04:05.25Z", "2026-01-02T03:04:05.250000Z", "2026-01-02T04:04:05.25+01:00"]) {
      expect(decode({ expected_updated_at: moment }).expectedUpdatedAt).toBe("2026-01-02T03:04:05.25Z");
    }
  });

  test.each([[{}], [{ expected_updated_at: "now" }], [{ expected_updated_at: "2026-01-02T03:04:05 00:00" }]])(
    "sends on the fault of %j",
    (query) => {
      expect(decode(query)).toMatchObject({ viewId: id, queryFault: { field: "expected_updated_at" } });
    },
  );
});

describe("POST /api/workspace-views/import", () => {
  const envelope = { kind: "x" };

  test("passes the envelope on with each digit", () => {
    const sent =
      '{"exported_view":{"view":{"payload":{"a":1.0,"b":1e2,"c":-0,"d":12345678901234567890,"e":0.1}}},"dry_run":false}';
    const { exportedJson } = decodeImportView(inputOf({ body: parseJsonObject(Buffer.from(sent), "every digit") }));
    expect(new TextDecoder().decode(exportedJson)).toBe(
      '{"view":{"payload":{"a":1.0,"b":1e2,"c":-0,"d":12345678901234567890,"e":0.1}}}',
    );
  });

  test("reads everything", () => {
    const body = {
      exported_view: envelope,
      dry_run: true,
      conflict_strategy: "replace",
      existing_view_id: id.toUpperCase(),
      expected_updated_at: "2026-01-02T03:04:05.000Z",
      name: " n ",
      project: "",
    };
    expect(decodeImportView(inputOf({ body }))).toEqual({
      exportedJson: utf8.encode('{"kind":"x"}'),
      dryRun: true,
      conflictStrategy: "replace",
      existingViewId: id,
      expectedUpdatedAt: "2026-01-02T03:04:05Z",
      name: "n",
      project: "",
    });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["no envelope", { dry_run: true }, "exported_view"],
    ["an envelope that is a text", { exported_view: "{}", dry_run: true }, "exported_view"],
    ["no dry_run", { exported_view: envelope }, "dry_run"],
    ["a dry_run that is a text", { exported_view: envelope, dry_run: "true" }, "dry_run"],
    ["an id that is none", { exported_view: envelope, dry_run: true, existing_view_id: "x" }, "existing_view_id"],
    [
      "a moment that is none",
      { exported_view: envelope, dry_run: true, expected_updated_at: "x" },
      "expected_updated_at",
    ],
    ["a blank name", { exported_view: envelope, dry_run: true, name: " " }, "name"],
  ])("refuses %s", (_, body, field) => {
    expect(() => decodeImportView(inputOf({ body }))).toThrow(
      expect.objectContaining({ reason: "bad_request", field }),
    );
  });
});

test("the list has pages of 50 by default, and 100 at most", () => {
  expect(decodeListViews(inputOf({}))).toEqual({ limit: 50, cursor: "" });
  expect(() => decodeListViews(inputOf({ query: { limit: "101" } }))).toThrow(
    expect.objectContaining({ field: "limit" }),
  );
});

const row = {
  id,
  orgId: id,
  ownerUserId: id,
  name: "Daily Loss, 2×!",
  payloadJson: utf8.encode('{"a":1.0}'),
  createdAt: "2026-01-02T03:04:05Z",
  updatedAt: "2026-01-02T03:04:06Z",
};

describe("answers", () => {
  test("fit their schemas", () => {
    const shown = { ...row, project: undefined };
    const made = encodeView(create(CreateViewResponseSchema, { view: shown }));
    expect(bodyOf(made, "POST /api/workspace-views")).toEqual({
      workspace_view: {
        schema_version: 1,
        id,
        org_id: id,
        owner_user_id: id,
        name: row.name,
        project: null,
        payload: { a: 1 },
        created_at: row.createdAt,
        updated_at: row.updatedAt,
        deleted_at: null,
      },
    });
    const { payloadJson: _payload, orgId: _org, ownerUserId: _owner, ...summary } = row;
    const list = encodeListViews(create(ListViewsResponseSchema, { views: [summary], nextCursor: "c" }));
    expect(bodyOf(list, "GET /api/workspace-views")).toMatchObject({ workspace_views: [{ id }], next_cursor: "c" });
    const gone = encodeDeleteView(create(DeleteViewResponseSchema, { viewId: id, deletedAt: row.updatedAt }));
    expect(bodyOf(gone, "DELETE /api/workspace-views/{view_id}")).toEqual({
      deleted: true,
      view_id: id,
      deleted_at: row.updatedAt,
    });
  });

  test("show that a view is shared, and whose it is", () => {
    const shared = { ...row, visibility: "organization", isOwner: false };
    const one = encodeView(create(CreateViewResponseSchema, { view: shared }));
    expect(bodyOf(one, "GET /api/workspace-views/{view_id}")).toMatchObject({
      workspace_view: { id, owner_user_id: id, visibility: "organization", is_owner: false },
    });
    const { payloadJson: _payload, orgId: _org, ...summary } = shared;
    const views = [
      { ...summary, isOwner: true },
      { ...summary, visibility: "private", isOwner: true },
    ];
    const list = encodeListViews(create(ListViewsResponseSchema, { views }));
    const same = { id, name: row.name, project: null, created_at: row.createdAt, updated_at: row.updatedAt };
    expect(bodyOf(list, "GET /api/workspace-views")).toEqual({
      workspace_views: [{ ...same, owner_user_id: id, visibility: "organization", is_owner: true }, same],
      next_cursor: null,
    });
  });

  test("of imports have a view unless it was a dry run", () => {
    const facts = { dryRun: true, action: "create", name: "n", payloadBytes: 2, warnings: ["w"] };
    const route = "POST /api/workspace-views/import";
    const tried = encodeImportView(create(ImportViewResponseSchema, facts));
    expect(bodyOf(tried, route)).toEqual({
      dry_run: true,
      action: "create",
      name: "n",
      project: null,
      payload_bytes: 2,
      warnings: ["w"],
      workspace_view: null,
    });
    const made = encodeImportView(create(ImportViewResponseSchema, { ...facts, dryRun: false, view: row }));
    expect(bodyOf(made, route)).toMatchObject({ dry_run: false, workspace_view: { id } });
  });

  test("of exports are files with a name that is safe", () => {
    const exportedJson = utf8.encode("{}");
    const { headers } = encodeExportView(create(ExportViewResponseSchema, { exportedJson, name: row.name }));
    expect(headers).toMatchObject({
      "content-disposition": 'attachment; filename="daily-loss--2--.instantml-view.json"',
      "cross-origin-resource-policy": "same-origin",
      "content-security-policy": "sandbox",
      "x-content-type-options": "nosniff",
      pragma: "no-cache",
    });
    const long = encodeExportView(create(ExportViewResponseSchema, { exportedJson, name: "x".repeat(500) }));
    expect(long.headers?.["content-disposition"]).toContain(`"${"x".repeat(80)}.instantml`);
  });
});
