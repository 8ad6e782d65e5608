import { asOwner, type RunsFixture } from "../runs.fixture.ts";

/** The next id of an attribute in a database. */
const nextIds = new WeakMap<RunsFixture, number>();

/** Logs attributes of a run one after the other, as the ingest service does; values are JSON. */
export async function putAttributes(
  fixture: RunsFixture,
  orgId: string,
  runId: string,
  values: readonly (readonly [path: string, value: string])[],
  type = "config",
): Promise<void> {
  const first = nextIds.get(fixture) ?? 1;
  nextIds.set(fixture, first + values.length);
  await asOwner(
    fixture,
    `INSERT INTO ingest.attributes (org_id, id, run_id, path, type, logged_at, value, summary, created_at)
     SELECT set_config('app.org_id', $1::text, true)::uuid, $3::bigint + a.n - 1, $2, a.path, $6, now(), a.value::json, '{}', now()
     FROM unnest($4::text[], $5::text[]) WITH ORDINALITY AS a (path, value, n)`,
    [orgId, runId, first, values.map(([path]) => path), values.map(([, value]) => value), type],
  );
}
