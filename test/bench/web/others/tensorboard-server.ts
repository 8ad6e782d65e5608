import { join } from "node:path";
import { freePort, pollUntil, startChild } from "@tidemark/local";

/** TensorBoard on 127.0.0.1 over a folder of event files. */
export type TensorboardServer = { readonly uri: string; stop(): Promise<void> };

const START_MS = 180_000;
/** Reading ten million points. */
const READ_MS = 900_000;

/** Starts the TensorBoard of this Python environment. @throws Error with its last lines when it does not answer */
export async function startTensorboard(options: {
  readonly python: string;
  readonly logdir: string;
  readonly directory: string;
}): Promise<TensorboardServer> {
  const { python, logdir, directory } = options;
  const port = await freePort();
  const uri = `http://127.0.0.1:${port}`;
  const child = await startChild({
    command: python,
    args: ["-m", "tensorboard.main", "--logdir", logdir, "--host", "127.0.0.1", "--port", String(port)],
    cwd: directory,
    env: {
      PATH: `${join(python, "..")}:${process.env["PATH"] ?? ""}`,
      HOME: directory,
      TMPDIR: directory,
      PYTHONDONTWRITEBYTECODE: "1",
    },
  });
  const answers = (): Promise<true | undefined> =>
    fetch(`${uri}/data/environment`).then(
      ({ ok }) => ok || undefined,
      () => undefined,
    );
  if ((await pollUntil(answers, { everyMs: 100, timeoutMs: START_MS })) === undefined) {
    await child.stop();
    throw new Error(`TensorBoard does not answer: ${child.lastLines().join("\n")}`);
  }
  return { uri, stop: async () => void (await child.stop()) };
}

/** Resolves when the server has read this many runs up to a step of a tag. @throws Error after a quarter of an hour */
export async function untilRead(uri: string, runs: number, tag: string, lastStep: number): Promise<void> {
  const waiting = new Set(await pollUntil(() => runsOf(uri, runs), { everyMs: 500, timeoutMs: READ_MS }));
  const read = async (): Promise<true | undefined> => {
    for (const run of waiting) {
      if ((await lastStepOf(uri, run, tag)) !== lastStep) return undefined;
      waiting.delete(run);
    }
    return true;
  };
  if (waiting.size === 0 || !(await pollUntil(read, { everyMs: 500, timeoutMs: READ_MS })))
    throw new Error("TensorBoard has not read its files");
}

async function runsOf(uri: string, wanted: number): Promise<readonly string[] | undefined> {
  const runs = (await (await fetch(`${uri}/data/runs`)).json()) as string[];
  return runs.length === wanted ? runs : undefined;
}

async function lastStepOf(uri: string, run: string, tag: string): Promise<number | undefined> {
  const answer = await fetch(`${uri}/data/plugin/scalars/scalars?${new URLSearchParams({ run, tag })}`);
  if (!answer.ok) return undefined;
  const points = (await answer.json()) as [time: number, step: number, value: number][];
  return points.at(-1)?.[1];
}
