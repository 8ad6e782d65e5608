import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { claimFolder, startPostgres } from "@tidemark/local";
import pg from "pg";
import { seedRuns } from "./seed-runs.ts";

const USAGE = `usage: npm run seed -- [--data-dir data | --database-url postgres://owner@host/database] [--org ID] [--runs 100000] [--first 1]
Fills an organization with runs: that of the data folder of \`npm start\`, which must be stopped meanwhile, or of any database. --org is needed
where there are several organizations; --first with a higher number adds further runs.`;

const { values } = parseArgs({
  options: {
    "data-dir": { type: "string", default: "data" },
    "database-url": { type: "string" },
    org: { type: "string" },
    runs: { type: "string", default: "100000" },
    first: { type: "string", default: "1" },
  },
});
const runs = Number(values.runs);
const first = Number(values.first);

function fail(text: string): never {
  console.error(`${text}\n\n${USAGE}`);
  process.exit(2);
}

async function onlyOrganization(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>("SELECT org_id AS id FROM control.organizations");
  const [organization, ...others] = rows;
  if (organization === undefined) fail("no organization can be seen; name one with --org");
  if (others.length > 0) fail(`there are ${rows.length} organizations: ${rows.map(({ id }) => id).join(", ")}`);
  return organization.id;
}

async function seed(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const orgId = values.org ?? (await onlyOrganization(client));
    const started = performance.now();
    const show = (done: number): void => {
      const seconds = (performance.now() - started) / 1000;
      process.stdout.write(`\r${done} of ${runs} runs, ${seconds.toFixed(0)} s`);
    };
    await seedRuns(client, [{ orgId, first, last: first + runs - 1 }], { onProgress: show });
    process.stdout.write("\n");
  } finally {
    await client.end();
  }
}

if (!(runs >= 1) || !(first >= 1)) fail("--runs and --first are numbers from 1");
const url = values["database-url"];
if (url !== undefined) {
  await seed(url);
} else {
  const folder = resolve(values["data-dir"]);
  const claim = await claimFolder(folder);
  const postgres = await startPostgres({ dataDir: join(folder, "postgres"), log: (line) => console.error(line) });
  try {
    await seed(postgres.url);
  } finally {
    await postgres.stop();
    await claim.release();
  }
}
