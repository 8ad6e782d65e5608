import { describe, expect, test } from "@jest/globals";
import { TTL_DAYS } from "@tidemark/limits";
import type { RouteInput } from "../../route.ts";
import { inputOf } from "../route-input.fixture.ts";
import { decodeDeleteAlias, decodeListCollections, decodeSetAlias } from "./collection-routes.ts";
import { decodeBeginUpload } from "./uploads.ts";
import {
  decodeAddInput,
  decodeDeleteVersion,
  decodeGetVersionLineage,
  decodeListEntries,
  decodeResolveVersion,
  decodeSetRetention,
} from "./versions.ts";

const id = "0c9b8a1e-2222-4222-8333-444455556666";
const said = { confirm: id, reason: "wrong data" };
type Body = RouteInput["body"];
const faultOf = (message: object) => (message as { bodyFault?: { field?: string } }).bodyFault;
const version = (body: Body): RouteInput => inputOf({ params: { version_id: id }, body });
const run = (body: Body): RouteInput => inputOf({ body });
const alias = (name: string, body: Body): RouteInput => inputOf({ params: { collection_id: id, alias: name }, body });

describe("retention", () => {
  test.each<[Body, object]>([
    [{}, { retentionMode: "inherit" }],
    [{ retention_mode: null, ttl_days: null }, { retentionMode: "inherit" }],
    [{ retention_mode: "forever" }, { retentionMode: "keep_forever" }],
    [{ retention_mode: "keep_forever" }, { retentionMode: "keep_forever" }],
    [{ retention_mode: "none" }, { retentionMode: "none" }],
    [
      { retention_mode: "days", ttl_days: 1 },
      { retentionMode: "days", ttlDays: 1 },
    ],
    [
      { retention_mode: "days", ttl_days: TTL_DAYS.max },
      { retentionMode: "days", ttlDays: TTL_DAYS.max },
    ],
  ])("reads %j", (body, message) => {
    expect(decodeSetRetention(version({ ...said, ...body }))).toEqual({
      versionId: id,
      ttlDays: undefined,
      bodyFault: undefined,
      ...said,
      ...message,
    });
  });

  test.each<[Body, string]>([
    [{ retention_mode: "week" }, "retention_mode"],
    [{ retention_mode: 7 }, "retention_mode"],
    [{ retention_mode: "days" }, "ttl_days"],
    [{ retention_mode: "days", ttl_days: 0 }, "ttl_days"],
    [{ retention_mode: "days", ttl_days: TTL_DAYS.max + 1 }, "ttl_days"],
    [{ retention_mode: "days", ttl_days: 1.5 }, "ttl_days"],
    [{ ttl_days: 5 }, "ttl_days"],
    [{ retention_mode: "none", ttl_days: 5 }, "ttl_days"],
  ])("refuses %j", (body, field) => {
    expect(faultOf(decodeSetRetention(version({ ...said, ...body })))).toMatchObject({ field });
  });
});

describe("what others rely on changes with a confirmation and a reason", () => {
  const changes: [string, (body: Body) => object][] = [
    ["a retention", (body) => decodeSetRetention(version(body))],
    ["the end of a version", (body) => decodeDeleteVersion(version(body))],
    ["the end of an alias", (body) => decodeDeleteAlias(alias(id, body))],
    ["an alias", (body) => decodeSetAlias(alias(id, { artifact_version_id: id, ...body }))],
  ];
  describe.each(changes)("%s", (_what, decode) => {
    test.each<[Body, string]>([
      [{ reason: "r" }, "confirm"],
      [{ confirm: "", reason: "r" }, "confirm"],
      [{ confirm: "yes", reason: "r" }, "confirm"],
      [{ confirm: true, reason: "r" }, "confirm"],
      [{ confirm: id }, "reason"],
      [{ confirm: id, reason: "  " }, "reason"],
      [{ confirm: id, reason: "r".repeat(4097) }, "reason"],
    ])("refuses %j", (body, field) => expect(faultOf(decode(body))).toMatchObject({ field }));

    test("takes the longest reason, and an id in either case", () => {
      expect(decode({ confirm: id.toUpperCase(), reason: "r".repeat(4096) })).toMatchObject({ confirm: id });
    });
  });
});

describe("aliases", () => {
  const set = (name: string) => decodeSetAlias(alias(name, { artifact_version_id: id, confirm: name, reason: "r" }));
  test.each(["best", "x".repeat(64)])("takes %j", (name) => {
    expect(set(name)).toMatchObject({ alias: name, versionId: id, bodyFault: undefined });
  });
  test.each(["latest", "Best"])("refuses %j", (name) => {
    expect(faultOf(set(name))).toMatchObject({ field: "alias" });
  });
  test("a new version takes at most 100, each once", () => {
    const upload = (aliases: string[]) =>
      decodeBeginUpload(
        run({
          collection: { name: "n" },
          manifest: { entries: [{ path: "a", reference_uri: "u" }] },
          aliases,
        }),
      );
    const names = Array.from({ length: 100 }, (_, i) => `a${i}`);
    expect(upload(["best", "best"])).toMatchObject({ aliases: ["best"] });
    expect(upload(names)).toMatchObject({ aliases: names });
    expect(faultOf(upload([...names, "more"]))).toMatchObject({ field: "aliases" });
    expect(faultOf(upload(["latest"]))).toMatchObject({ field: "aliases" });
  });
});

describe("deleting a version", () => {
  test("keeps aliases unless it is told", () => {
    expect(decodeDeleteVersion(version(said))).toMatchObject({ versionId: id, deleteAliases: false });
    expect(decodeDeleteVersion(version({ ...said, delete_aliases: true }))).toMatchObject({ deleteAliases: true });
  });
  test("needs true or false", () => {
    expect(faultOf(decodeDeleteVersion(version({ ...said, delete_aliases: "yes" })))).toMatchObject({
      field: "delete_aliases",
    });
  });
});

describe("inputs of a run", () => {
  test.each<[Body, object]>([
    [{ artifact_version_id: id.toUpperCase() }, { versionId: id, ref: undefined }],
    [
      { artifact_version_id: id, ref: "" },
      { versionId: id, ref: undefined },
    ],
    [
      { ref: " model/policy:best ", type: "model" },
      { versionId: undefined, ref: "model/policy:best", type: "model" },
    ],
  ])("reads %j", (body, message) => expect(decodeAddInput(run(body))).toMatchObject(message));
  test.each<[Body, string]>([
    [{}, "artifact_version_id"],
    [{ artifact_version_id: null, ref: " " }, "artifact_version_id"],
    [{ artifact_version_id: "policy" }, "artifact_version_id"],
    [{ artifact_version_id: id, ref: "policy" }, "ref"],
    [{ ref: 5 }, "ref"],
    [{ ref: "r".repeat(2049) }, "ref"],
  ])("refuses %j", (body, field) => expect(faultOf(decodeAddInput(run(body)))).toMatchObject({ field }));
});

describe("queries", () => {
  const queried = (query: Record<string, string>) => inputOf({ params: { version_id: id, collection_id: id }, query });
  test("a reference is required", () => {
    expect(decodeResolveVersion(queried({ ref: "policy:v3" }))).toMatchObject({ ref: "policy:v3" });
    expect(() => decodeResolveVersion(queried({}))).toThrow(expect.objectContaining({ field: "ref" }));
    expect(() => decodeResolveVersion(queried({ ref: "r".repeat(2049) }))).toThrow(
      expect.objectContaining({ field: "ref" }),
    );
  });
  test.each<[string, Record<string, string>]>([
    ["limit", { limit: "0" }],
    ["limit", { limit: "1001" }],
    ["limit", { limit: "ten" }],
    ["offset", { offset: "-1" }],
  ])("the %s of a manifest is refused: %j", (field, query) => {
    expect(decodeListEntries(queried(query))).toMatchObject({ queryFault: { field } });
  });
  test("a page of a manifest", () => {
    expect(decodeListEntries(queried({ path_prefix: "train/", limit: "1000", offset: "5" }))).toMatchObject({
      pathPrefix: "train/",
      page: { limit: 1000, offset: 5n },
      queryFault: undefined,
    });
  });
  test.each(["0", "201"])("a lineage of %s runs is refused", (limit) => {
    expect(decodeGetVersionLineage(queried({ limit }))).toMatchObject({ queryFault: { field: "limit" } });
  });
  test("collections by project, type and a part of the name", () => {
    expect(decodeListCollections(queried({ project: "p", project_id: "1", type: "model", q: "pol" }))).toMatchObject({
      project: "p",
      projectId: "1",
      type: "model",
      q: "pol",
    });
    expect(() => decodeListCollections(queried({ limit: "501" }))).toThrow(expect.objectContaining({ field: "limit" }));
  });
});
