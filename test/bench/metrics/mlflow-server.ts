import { join } from "node:path";
import { freePort, pollUntil, startChild, type Child } from "@tidemark/local";

/** MLflow's tracking server on 127.0.0.1. */
export type MlflowServer = { readonly uri: string; readonly pid: number; stop(): Promise<void> };

/** One per core of the machine that the figures are of; more wait for each other. */
const WORKERS = 2;
const START_MS = 180_000;

/**
 * Starts the tracking server of this Python environment over a PostgreSQL database as its documentation says.
 * @throws Error with its last lines when it does not answer
 */
export async function startMlflow(options: {
  readonly python: string;
  readonly databaseUrl: string;
  readonly directory: string;
}): Promise<MlflowServer> {
  const { python, databaseUrl, directory } = options;
  const port = await freePort();
  const uri = `http://127.0.0.1:${port}`;
  const server = {
    "--host": "127.0.0.1",
    "--port": String(port),
    "--workers": String(WORKERS),
    "--backend-store-uri": databaseUrl.replace(/^postgres:/, "postgresql+psycopg2:"),
    "--artifacts-destination": join(directory, "mlflow-artifacts"),
  };
  const child: Child = await startChild({
    command: python,
    args: ["-m", "mlflow", "server", ...Object.entries(server).flat()],
    cwd: directory,
    env: {
      PATH: `${join(python, "..")}:${process.env["PATH"] ?? ""}`,
      HOME: directory,
      PYTHONPATH: join(import.meta.dirname, "mlflow_site"),
      PYTHONDONTWRITEBYTECODE: "1",
      MLFLOW_DISABLE_TELEMETRY: "true",
      // The benchmark asks it for metrics alone.
      MLFLOW_SERVER_ENABLE_JOB_EXECUTION: "false",
    },
  });
  let ended = false;
  void child.exited.then(() => {
    ended = true;
  });
  try {
    const answers = async (): Promise<true | undefined> => {
      if (ended) throw new Error("it has ended");
      return fetch(`${uri}/health`).then(
        ({ ok }) => ok || undefined,
        () => undefined,
      );
    };
    if ((await pollUntil(answers, { everyMs: 100, timeoutMs: START_MS })) === undefined)
      throw new Error("time is over");
  } catch (error) {
    await child.stop();
    throw new Error(`MLflow's server does not answer: ${child.lastLines().join("\n")}`, { cause: error });
  }
  return { uri, pid: child.pid, stop: async () => void (await child.stop()) };
}
