// A client for Tidemark with nothing but fetch. Copy it and change it as you like.

/** Where the service is, and an API key with the scope sdk:ingest. */
export type Server = { url: string; apiKey: string };

/** The facts about a run that are known when it begins. */
export type NewRun = {
  project: string;
  config: Record<string, unknown>;
  tags: string[];
  metadata: Record<string, unknown>;
};

// What the service takes in one request.
const POINTS_PER_BATCH = 500;
const LINES_PER_BATCH = 50;

const ATTEMPTS = 8;
const TIMEOUT_MS = 30_000;
const PAUSE_MS_MAX = 15_000;

/** "Retry later", from the service or from a proxy in front of it. */
const COME_BACK = new Set([429, 502, 503, 504]);

/** A run that is being recorded. */
export type Run = Awaited<ReturnType<typeof startRun>>;

/** Creates a run. Throws an Error with the service's own words when it does not take the run, here and in every method. */
export async function startRun(server: Server, { project, config, tags, metadata }: NewRun) {
  // With an id that the client chose this can be sent twice: the second answer is the run that the first one made.
  const id = crypto.randomUUID();
  await send(server, "POST", "/runs", { id, project, config, tags, metadata });

  const points: { metrics: Record<string, number>; step: number; timestamp: string }[] = [];
  const lines: { line_number: number; message: string; timestamp: string }[] = [];
  let lineCount = 0;

  /** Sends what has been gathered. A batch that cannot be delivered is given up, with an Error. */
  async function flush(): Promise<void> {
    while (points.length > 0) {
      const batch = { points: points.splice(0, POINTS_PER_BATCH) };
      await send(server, "POST", `/runs/${id}/metrics/batch`, batch, crypto.randomUUID());
    }
    while (lines.length > 0) {
      const batch = { stream: "stdout", lines: lines.splice(0, LINES_PER_BATCH) };
      await send(server, "POST", `/api/runs/${id}/logs`, batch, crypto.randomUUID());
    }
  }

  return {
    id,
    flush,

    /** Gathers the values of one step. */
    log(metrics: Record<string, number>, step: number): void {
      points.push({ metrics, step, timestamp: new Date().toISOString() });
    },

    /** Prints a line and gathers it as console output of the run. */
    print(message: string): void {
      console.log(message);
      lineCount += 1;
      lines.push({ line_number: lineCount, message, timestamp: new Date().toISOString() });
    },

    /** Records facts learned during the run, each under a path such as `config/model/parameters`. */
    async describe(facts: Record<string, unknown>): Promise<void> {
      const attributes = Object.entries(facts).map(([path, value]) => ({ path, type: "config", value }));
      await send(server, "POST", `/api/runs/${id}/attributes`, { attributes });
    },

    /** Sends the rest and closes the run; a failed one is closed even if the rest cannot be sent. */
    async finish(status: "finished" | "failed"): Promise<void> {
      const sent = flush();
      await (status === "failed" ? sent.catch((error: unknown) => console.error(error)) : sent);
      await send(server, "PATCH", `/runs/${id}`, { status });
    },
  };
}

/**
 * Sends a request, again after a pause where the service is busy or cannot be reached. All that is sent here may arrive
 * twice: an Idempotency-Key makes a batch count once, and the rest says the same thing again.
 */
async function send(server: Server, method: string, path: string, body: unknown, idempotencyKey?: string) {
  const headers = {
    authorization: `Bearer ${server.apiKey}`,
    "content-type": "application/json",
    ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
  };
  const request = { method, headers, body: JSON.stringify(body) };
  for (let attempt = 1; ; attempt += 1) {
    const { fault, again } = await tryOnce(`${server.url}${path}`, request, 250 * 2 ** (attempt - 1));
    if (fault === undefined) return;
    if (again === undefined || attempt === ATTEMPTS) throw new Error(`${method} ${path}: ${fault}`);
    const pause = Math.min(again, PAUSE_MS_MAX);
    console.error(`${method} ${path}: ${fault}; once more in ${pause} ms`);
    // Jittered, so that many processes do not retry in lockstep.
    await new Promise((resolve) => setTimeout(resolve, pause * (1 + Math.random() / 4)));
  }
}

/** Returns what went wrong, if anything, and after how many milliseconds to try again, if ever. */
async function tryOnce(url: string, request: RequestInit, pause: number): Promise<{ fault?: string; again?: number }> {
  try {
    const answer = await fetch(url, { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await answer.text();
    if (answer.ok) return {};
    const fault = `${answer.status} ${text}`;
    const code = /"code":"(\w+)"/.exec(text)?.[1];
    // Waiting does not restore the monthly allowance, but it lets the first sending of a batch end.
    const temporary = COME_BACK.has(answer.status) && code !== "api_request_monthly_limit_exceeded";
    if (!temporary && code !== "idempotency_in_progress") return { fault };
    const asked = Number(answer.headers.get("retry-after") ?? Number.NaN) * 1000;
    return { fault, again: Number.isNaN(asked) ? pause : asked };
  } catch (error) {
    // fetch itself says only that it failed; the reason is in the cause.
    return { fault: String((error as Error).cause ?? error), again: pause };
  }
}
