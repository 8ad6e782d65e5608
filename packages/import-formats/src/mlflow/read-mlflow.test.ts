import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  collect,
  finitePoints,
  fixturesFolder,
  readExpected,
  type Collected,
  type CollectedRun,
} from "../collect.fixture.ts";
import { fixtureTree } from "../disk-tree.fixture.ts";
import type { JsonValue } from "../items.ts";
import { withDatabase } from "../sqlite.fixture.ts";
import { readMlflowDatabase } from "./read-database.ts";
import { readMlflowFolder } from "./read-folder.ts";
import { readMlflowServer, type FetchJson } from "./read-server.ts";

type ExpectedRun = Pick<CollectedRun, "points"> & {
  readonly params: Record<string, string>;
  readonly tags: Record<string, string>;
  readonly name: string;
  readonly experiment: string;
  readonly status: string;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly artifacts: Record<string, number>;
};

const database = gunzipSync(readFileSync(join(fixturesFolder, "mlflow-3.17.2-database/data/mlflow.db.gz")));

const answers = JSON.parse(
  readFileSync(join(fixturesFolder, "mlflow-3.17.2-server/data/answers.json"), "utf8"),
) as Record<string, string>;

/** Answers as the server did when the fixture was written. */
const fetchJson: FetchJson = (method, path, parameters) => {
  const members = Object.entries(parameters).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const answer = answers[JSON.stringify([method, path, Object.fromEntries(members)])];
  if (answer === undefined) throw new Error(`the fixture has no answer to ${path} ${JSON.stringify(parameters)}`);
  return Promise.resolve(JSON.parse(answer) as JsonValue);
};

const readers: Readonly<Record<string, () => Promise<Collected>>> = {
  "mlflow-2.22.0": () => collect(readMlflowFolder(fixtureTree("mlflow-2.22.0"))),
  "mlflow-3.17.2": () => collect(readMlflowFolder(fixtureTree("mlflow-3.17.2"))),
  "mlflow-3.17.2-database": () => withDatabase(database, (query) => collect(readMlflowDatabase(query))),
  "mlflow-3.17.2-server": () => collect(readMlflowServer(fetchJson, 3)),
};

const statuses: Readonly<Record<string, string>> = { FINISHED: "finished", KILLED: "failed", RUNNING: "running" };

/** MLflow lists a history in no order that it promises. */
function sorted(points: CollectedRun["points"]): CollectedRun["points"] {
  const entries = Object.entries(points).map(
    ([key, rows]) => [key, rows.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])] as const,
  );
  return Object.fromEntries(entries);
}

test.each(Object.keys(readers))("%s has what MLflow reads, run by run and point by point", async (fixture) => {
  const { runs, warnings } = await readers[fixture]!();
  const expected = readExpected<ExpectedRun>(fixture).runs;
  expect(Object.keys(runs).toSorted()).toEqual(Object.keys(expected).toSorted());
  for (const [id, { points, params, tags, ...info }] of Object.entries(expected)) {
    const { fields, points: found, files } = runs[id]!;
    const { finite, others } = finitePoints(points);
    expect(sorted(found)).toEqual(sorted(finite));
    expect(warnings[id]?.non_finite_value ?? 0).toBe(others);
    expect(fields.config).toEqual(params);
    expect({ name: fields.name, project: fields.project }).toEqual({ name: info.name, project: info.experiment });
    expect(fields.status).toBe(statuses[info.status]);
    expect([fields.startedAt, fields.finishedAt ?? null]).toEqual([info.startedAt, info.finishedAt]);
    const { "mlflow.runName": _name, "mlflow.note.content": notes, "mlflow.parentRunId": parent, ...ours } = tags;
    const { "mlflow.user": user, ...plain } = ours;
    expect(fields.notes).toBe(notes);
    expect(fields.metadata?.["mlflow"]).toMatchObject({
      tags: plain,
      ...(parent === undefined ? {} : { parent_run_id: parent }),
      ...(user === undefined ? {} : { user }),
    });
    if (fixture.endsWith("database")) continue;
    expect(Object.fromEntries(Object.entries(files).map(([name, { size }]) => [name, size]))).toEqual(info.artifacts);
  }
});

test.each(Object.keys(readers))("%s: deleted runs are counted", async (fixture) => {
  expect((await readers[fixture]!()).warnings[""]).toEqual({ deleted_run: 2 });
});

test("files of a folder are named by their paths, those of a server by their address", async () => {
  const folder = Object.values((await readers["mlflow-3.17.2"]!()).runs).flatMap(({ files }) => Object.entries(files));
  expect(folder).toEqual([
    ["deep/folder/model.txt", { size: 7, path: expect.stringMatching(/^mlruns\/.*\/model\.txt$/) }],
  ]);
  const server = Object.values((await readers["mlflow-3.17.2-server"]!()).runs).flatMap(({ files }) =>
    Object.values(files),
  );
  expect(server).toEqual([{ size: 7, uri: expect.stringMatching(/\/artifacts\/deep\/folder\/model\.txt$/) }]);
});

test("a folder whose files are damaged gives the others", async () => {
  const fixture = "mlflow-3.17.2";
  const whole = await readers[fixture]!();
  const [id] = Object.entries(whole.runs).find(([, { points }]) => points["train/loss"] !== undefined)!;
  const experiment = await fixtureTree(fixture).list("mlruns");
  const paths: string[] = [];
  for (const { name } of experiment) {
    const runs = await fixtureTree(fixture).list(`mlruns/${name}`);
    if (runs.some((run) => run.name === id)) paths.push(`mlruns/${name}/${id}`);
  }
  const metric = `${paths[0]}/metrics/train/loss`;
  const bytes = readFileSync(join(fixturesFolder, fixture, "data", metric));
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(255), fc.boolean(), async (at, byte, cut) => {
      const changed = cut ? bytes.subarray(0, at) : Buffer.from(bytes);
      if (!cut) changed[at] = byte;
      const meta = { [`${paths[0]}/meta.yaml`]: Buffer.from(`a: [${"[".repeat(at)}`) };
      const { runs, warnings } = await collect(readMlflowFolder(fixtureTree(fixture, { [metric]: changed })));
      const before = bytes.subarray(0, at).toString().split("\n").length - 1;
      const kept = whole.runs[id]!.points["train/loss"]!.slice(0, before);
      expect((runs[id]!.points["train/loss"] ?? []).slice(0, before)).toEqual(kept);
      if (cut && at > 0 && bytes[at - 1] !== 0x0a) expect(warnings[id]).toMatchObject({ torn_tail: 1 });
      expect(Object.keys((await collect(readMlflowFolder(fixtureTree(fixture, meta)))).runs)).toHaveLength(2);
    }),
    { numRuns: 25 },
  );
});

test("a damaged database ends without an error and counts the damage", async () => {
  const whole = await withDatabase(database, (query) => collect(readMlflowDatabase(query)));
  const flips = fc.array(fc.tuple(fc.nat(database.length - 1), fc.nat(255)), { minLength: 1, maxLength: 400 });
  const cut = fc.option(fc.nat(database.length), { nil: database.length });
  await fc.assert(
    fc.asyncProperty(flips, cut, async (changes, length) => {
      const bytes = Buffer.from(database.subarray(0, length));
      for (const [at, byte] of changes) if (at < length) bytes[at] = byte;
      const { runs, warnings } = await withDatabase(bytes, (query) => collect(readMlflowDatabase(query)));
      const isWhole = Object.keys(runs).length === Object.keys(whole.runs).length;
      if (length < database.length / 4) expect(isWhole).toBe(false);
      if (Object.keys(runs).length === 0) expect(Object.keys(warnings)).not.toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test("a server whose answers are something else ends the lists", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue(), { minLength: 1 }), async (values) => {
      let sent = 0;
      const odd: FetchJson = (_method, path) => {
        const value = values[sent++ % values.length] as JsonValue;
        const member = path === "experiments/search" ? "experiments" : path === "runs/search" ? "runs" : "metrics";
        return Promise.resolve(sent % 3 === 0 ? value : { [member]: [value, {}], next_page_token: "again" });
      };
      await collect(readMlflowServer(odd));
      expect(sent).toBeGreaterThan(0);
    }),
    { numRuns: 100 },
  );
});
