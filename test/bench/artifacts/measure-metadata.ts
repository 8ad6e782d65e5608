import { openBenchStack } from "../bench-stack.ts";
import type { BenchPostgres } from "../fresh-postgres.ts";
import { measureRead, type ReadCase, type ReadRow } from "../http-reads.ts";
import { shown } from "../markdown-table.ts";
import { otherOrganizations, seedRuns } from "../seed/seed-runs.ts";
import { seedArtifacts, type SeededArtifacts } from "../../plans/seed-artifacts.ts";

const SMALL = 2000;
const MEDIUM = 10;
const LARGE_RUNS = 20_000;
const MEASURED_SMALL_RUNS = 25;

const get = (name: string, path: string): ReadCase => ({ name, shot: () => ({ method: "GET", path }) });

const readsOf = ({ runId, versionId, name }: SeededArtifacts): ReadCase[] => {
  const resolve = (what: string, ref: string): ReadCase =>
    get(`resolve ${what}`, `/api/artifact-versions/resolve?ref=${encodeURIComponent(ref)}`);
  const version = `/api/artifact-versions/${versionId}`;
  return [
    get("list of 1,000 artifacts of a run (target p95 20 ms)", `/api/runs/${runId}/artifacts?limit=1000`),
    get("list of the newest 100", `/api/runs/${runId}/artifacts`),
    resolve("the latest version (target p95 5 ms)", name),
    resolve("an alias (5 ms)", `${name}:best`),
    resolve("an index, with type (5 ms)", `model/${name}:v7`),
    get("manifest of 1,000 entries (20 ms)", `${version}/manifest?limit=1000`),
    get("first 100 entries", `${version}/manifest`),
    get("version", version),
    get("lineage", `${version}/lineage`),
    get("newest 100 collections", "/api/artifact-collections"),
  ];
};

/** Reads of an organization with many artifacts and of one with few, in a database with 2,000 others, one client, one request at a time. */
export async function measureMetadata(
  postgres: BenchPostgres,
  mode: "embedded" | "split",
  { scale, seconds, say }: { readonly scale: number; readonly seconds: number; readonly say: (text: string) => void },
): Promise<ReadRow[]> {
  const bench = await openBenchStack(postgres, mode, `bench_artifacts_${mode}`);
  try {
    const large = await bench.stack.organization();
    const small = await bench.stack.organization();
    const scaled = (count: number): number => Math.max(1, Math.round(count * scale));
    const started = performance.now();
    await seedRuns(
      bench.owner,
      [
        ...otherOrganizations(scaled(SMALL), scaled(MEDIUM)),
        { orgId: large.orgId, first: 1, last: scaled(LARGE_RUNS) },
        { orgId: small.orgId, first: 1, last: MEASURED_SMALL_RUNS },
      ],
      { metrics: 1, vacuum: false },
    );
    const seeded = await seedArtifacts(bench.owner, [large.orgId, small.orgId]);
    say(`\nseeded artifacts of 2,000 organizations, ${shown((performance.now() - started) / 1000)} s`);
    const sides = [
      {
        when: `large, ${shown(scaled(LARGE_RUNS) * 5)} artifacts`,
        key: large.key,
        reads: readsOf(seeded.get(large.orgId)!),
      },
      {
        when: `small, ${shown(MEASURED_SMALL_RUNS * 5)} others`,
        key: small.key,
        reads: readsOf(seeded.get(small.orgId)!),
      },
    ];
    const rows: ReadRow[] = [];
    for (const [index] of sides[0]!.reads.entries()) {
      for (const { when, key, reads } of sides)
        rows.push(await measureRead({ ...bench, key }, reads[index]!, { when, seconds }));
    }
    return rows;
  } finally {
    await bench.stop();
  }
}
