import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "@jest/globals";
import { encodeLine, type ArchiveLine, type CountedType } from "@tidemark/archive";
import { signIn } from "../stack/people.ts";
import type { Stack } from "../stack/attach.ts";
import { sharedStack } from "../stack/shared-stacks.ts";
import { contentOf } from "./archive.fixture.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await sharedStack("embedded", {});
});

/** More of each type than one page of its owner has. */
const MANY = {
  runs: 1050,
  artifacts: 420,
  attributes: 2500,
  objects: 1100,
  collections: 230,
  versions: 210,
  traces: 550,
};
const [REPORTS, VIEWS] = [9, 210];

const time = (i: number): string => new Date(1_795_000_000_000 + 1000 * i).toISOString().replace(".000Z", "Z");
const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
/** A line without what it does not have. */
const line = <T extends object>(members: T): ArchiveLine => members as unknown as ArchiveLine;

/** An archive of one project in which most belongs to one run. */
function largeArchive(): ArchiveLine[] {
  const project = randomUUID();
  const runs = ids(MANY.runs);
  const [run] = runs as [string];
  const counts: Partial<Record<CountedType, number>> = {};
  const lines: ArchiveLine[] = [];
  const add = (type: CountedType, count: number, make: (i: number) => ArchiveLine | ArchiveLine[]): void => {
    counts[type] = (counts[type] ?? 0) + count;
    for (let i = 0; i < count; i++) lines.push(...[make(i)].flat());
  };
  lines.push(
    line({
      line: "export",
      version: 1,
      product: "tidemark",
      exported_at: time(0),
      org_id: randomUUID(),
      selection: {},
    }),
  );
  add("project", 1, () => line({ line: "project", id: project, name: "large", created_at: time(0) }));
  add("run", MANY.runs, (i) =>
    line({
      line: "run",
      id: runs[i],
      project_id: project,
      name: `r${i}`,
      status: "finished",
      config: `{"i":${i}}`,
      tags: ["t"],
      metadata: "{}",
      created_at: time(i),
      started_at: time(i),
      finished_at: time(i + 1),
      resume_count: 0,
      lifecycle: [],
    }),
  );
  add("artifact", MANY.artifacts, (i) =>
    line({
      line: "artifact",
      id: randomUUID(),
      run_id: run,
      artifact_type: "file",
      name: `a${i}`,
      mime_type: "x/y",
      uri: `s3://bucket/${i}`,
      metadata: "{}",
      created_at: time(i),
    }),
  );
  add("attribute", MANY.attributes, (i) =>
    line({
      line: "attribute",
      id: i,
      run_id: run,
      path: `p/${i}`,
      attribute_type: i % 3 === 0 ? "string_series" : "config",
      step: i % 7,
      logged_at: time(i),
      value: `"${i}"`,
      summary: "{}",
      created_at: time(i),
    }),
  );
  add("object", MANY.objects, (i) => [
    line({
      line: "object",
      id: i,
      run_id: run,
      key: `k${i}`,
      kind: "table",
      step: i,
      value: "{}",
      metadata: "{}",
      summary: '{"row_count":1}',
      created_at: time(i),
    }),
    line({ line: "object.rows", id: i, rows: [`{"i":${i}}`] }),
  ]);
  add("trace", MANY.traces, (i) => {
    const trace = { run_id: run, trace_id: (i + 1).toString(16).padStart(32, "0") };
    const span = {
      span_id: "1".padStart(16, "0"),
      sequence: 1,
      name: `s${i}`,
      kind: "model",
      status: "ok",
      started_at: 1.7e15 + i,
    };
    const spans = [{ ...span, previews: false, redaction_state: "not_captured", truncated: false }];
    return [line({ line: "trace", ...trace, updated_at: 1.7e15 + i }), line({ line: "trace.spans", ...trace, spans })];
  });
  const collections = ids(MANY.collections);
  const versionOf = (collection: string, index: number): ArchiveLine[] => {
    const id = randomUUID();
    // The last version of the first collection has an edge of each run.
    const users = collection === collections[0] && index === MANY.versions - 1 ? runs : [run];
    const edges = users.map((run_id, i) => ({
      id: randomUUID(),
      run_id,
      direction: "input",
      source: "sdk",
      created_at: time(i),
    }));
    return [
      line({
        line: "version",
        id,
        collection_id: collection,
        version_index: index,
        digest: (index + 1).toString(16).padStart(64, "0"),
        source_run_id: run,
        file_count: 1,
        size_bytes: 0,
        state: "active",
        aliases: [`v-${index}`],
        retention_mode: "inherit",
        created_at: time(index),
      }),
      line({
        line: "version.entries",
        id,
        entries: [{ id: randomUUID(), path: "a/b", kind: "reference", mime_type: "x/y", reference_uri: "s3://a/b" }],
      }),
      ...Array.from({ length: Math.ceil(edges.length / 1000) }, (_, i) =>
        line({ line: "version.edges", id, edges: edges.slice(1000 * i, 1000 * (i + 1)) }),
      ),
    ];
  };
  for (const [c, id] of collections.entries()) {
    const versions = c === 0 ? MANY.versions : 1;
    add("collection", 1, () =>
      line({
        line: "collection",
        id,
        project_id: project,
        collection_type: "model",
        name: `c${c}`,
        metadata: "{}",
        next_index: versions,
        created_at: time(c),
        updated_at: time(c),
      }),
    );
    add("version", versions, (index) => versionOf(id, index));
  }
  add("report", REPORTS, (i) =>
    line({
      line: "report",
      id: randomUUID(),
      project_id: project,
      title: `report ${i}`,
      visibility: "org",
      blocks: "[]",
      created_at: time(i),
      updated_at: time(i),
    }),
  );
  add("view", VIEWS, (i) =>
    line({
      line: "view",
      id: randomUUID(),
      name: `view ${i}`,
      project: "large",
      payload: `{"i":${i}}`,
      created_at: time(i),
      updated_at: time(i),
    }),
  );
  const none = { points: 0, rank_points: 0, lines: 0 };
  return [...lines, line({ line: "end", counts: { ...none, ...counts } })];
}

/** The rows of an archive in an order that does not depend on pages, without ids that are assigned again. */
function rowsOf(text: string): string[] {
  return contentOf(text)
    .rows.filter((row) => (row as ArchiveLine).line !== "export")
    .flatMap((row) => {
      const { id, edges, ...others } = row as Record<string, unknown>;
      const isNumbered = typeof id === "number";
      if (Array.isArray(edges)) return edges.map((edge) => JSON.stringify({ id, ...edge }));
      return [JSON.stringify(isNumbered ? others : { id, ...others })];
    })
    .toSorted();
}

test("an archive of several pages of everything is restored and exported whole", async () => {
  const { browser } = await signIn(stack);
  const text = largeArchive().map(encodeLine).join("");
  const headers = { "content-type": "application/x-ndjson" };
  const answer = await browser.post("/api/imports/archive", undefined, { rawBody: text, headers });
  expect(answer).toMatchObject({ status: 200, json: { replaced: [], missing_bytes: [], warnings: [] } });
  const again = await browser.get("/api/export?format=ndjson&project=large");
  expect(again.status).toBe(200);
  expect(rowsOf(again.text)).toEqual(rowsOf(text));
  const { json } = await browser.get("/api/overview");
  expect(JSON.stringify(json)).toContain(String(MANY.runs));
});
