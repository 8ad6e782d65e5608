import { withSender, type Sender, type Shot } from "../frame/sender.ts";
import { stepPlace } from "../frame/step-places.ts";
import type { BenchStack } from "../frame/stack.ts";

/** Requests that are on the way simultaneously. */
const CONNECTIONS = 8;
/** Metric keys of each run. */
export const FRESH_KEYS = ["eval/loss", "train/accuracy", "train/grad_norm", "train/loss", "train/lr", "train/tokens"];

type SeededRun = { name: string; project: string; config: string; tags: string[]; metadata: string };

const SEEDED = `
  SELECT r.name, p.name AS project, r.config, r.tags, r.metadata
  FROM runs.runs r JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id
  WHERE r.org_id = $1 ORDER BY r.created_at DESC LIMIT $2`;

/**
 * Creates runs with the names and documents of runs of the organization `like`, and logs a step to each, all through the API. The runs are running, and
 * PostgreSQL has had no time to look at them. Returns requests that log the next step of each, for rounds from 1.
 */
export async function writeFreshRuns(
  { stack, owner }: BenchStack,
  { key, like, runs }: { readonly key: string; readonly like: string; readonly runs: number },
): Promise<Shot[]> {
  const { rows } = await owner.query<SeededRun>(SEEDED, [like, runs]);
  return withSender({ baseUrl: stack.baseUrl, key }, CONNECTIONS, async (sender) => {
    const ids: string[] = [];
    await sendAll(sender, rows.map(createOf), (text) => {
      ids.push((JSON.parse(text) as { run: { id: string } }).run.id);
    });
    await sendAll(
      sender,
      ids.map((id) => logOf(id, 0)),
    );
    return ids.map((id) => logOf(id, stepPlace(0, 1)));
  });
}

function createOf({ name, project, config, tags, metadata }: SeededRun): Shot {
  const [nameText, projectText, tagsText] = [name, project, tags].map((value) => JSON.stringify(value));
  const body = `{"name":${nameText},"project":${projectText},"config":${config},"tags":${tagsText},"metadata":${metadata}}`;
  return { method: "POST", path: "/runs", body };
}

function logOf(runId: string, step: number | string): Shot {
  const metrics = Object.fromEntries(FRESH_KEYS.map((name) => [name, Math.random()]));
  const body = JSON.stringify({ metrics, step, timestamp: new Date().toISOString() });
  return { method: "POST", path: `/runs/${runId}/metrics`, body, keyed: true };
}

async function sendAll(sender: Sender, shots: readonly Shot[], take?: (text: string) => void): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let shot = shots[next++]; shot !== undefined; shot = shots[next++]) {
      const text = await sender.ask(shot);
      take?.(text);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
}
