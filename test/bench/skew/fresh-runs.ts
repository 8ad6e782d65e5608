import type { BenchStack } from "../bench-stack.ts";
import { valueTape } from "../metrics/metric-values.ts";
import { metricShots } from "../metrics/metric-shots.ts";
import type { WriteLoad } from "../metrics/write-load.ts";
import { withSender, type Sender, type Shot } from "../open-sender.ts";

/** Requests that are on the way at a time. */
const CONNECTIONS = 8;

type SeededRun = { name: string; project: string; config: string; tags: string[]; metadata: string };

const seeded = `
  SELECT r.name, p.name AS project, r.config, r.tags, r.metadata
  FROM runs.runs r JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id
  WHERE r.org_id = $1 ORDER BY r.created_at DESC LIMIT $2`;

/** What was written, and how fast. */
export type FreshRuns = {
  readonly runIds: readonly string[];
  readonly createsPerSecond: number;
  readonly writesPerSecond: number;
};

/**
 * Creates as many runs as `load` has, with the names and documents of runs of the organization `like`, and logs one step of `load` to each, all through
 * the API. The runs are running, and PostgreSQL has had no time to look at them.
 */
export async function writeFreshRuns(
  { stack, owner }: BenchStack,
  options: { readonly key: string; readonly like: string; readonly load: WriteLoad },
): Promise<FreshRuns> {
  const { key, like, load } = options;
  const { rows } = await owner.query<SeededRun>(seeded, [like, load.runs]);
  return withSender({ baseUrl: stack.baseUrl, key, connections: CONNECTIONS }, async (sender) => {
    const runIds: string[] = [];
    const creates = await sendAll(sender, rows.map(createOf), (text) => {
      runIds.push((JSON.parse(text) as { run: { id: string } }).run.id);
    });
    const shotOf = metricShots(valueTape(), load, runIds);
    const writes = await sendAll(
      sender,
      runIds.map((_id, index) => shotOf(index)),
    );
    return { runIds, createsPerSecond: creates, writesPerSecond: writes };
  });
}

function createOf({ name, project, config, tags, metadata }: SeededRun): Shot {
  const [nameText, projectText, tagsText] = [name, project, tags].map((value) => JSON.stringify(value));
  const body = `{"name":${nameText},"project":${projectText},"config":${config},"tags":${tagsText},"metadata":${metadata}}`;
  return { method: "POST", path: "/runs", body };
}

/** Sends all requests, a few at a time, and returns how many were answered in a second. */
async function sendAll(
  sender: Sender,
  shots: readonly Shot[],
  take: (text: string) => void = () => {},
): Promise<number> {
  const started = performance.now();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let shot = shots[next++]; shot !== undefined; shot = shots[next++]) take(await sender.ask(shot));
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return shots.length / ((performance.now() - started) / 1000);
}
