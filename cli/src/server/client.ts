import { createReadStream } from "node:fs";
import { request as requestHttp, type IncomingMessage } from "node:http";
import { Readable, Transform } from "node:stream";
import { request as requestHttps } from "node:https";
import { pipeline } from "node:stream/promises";
import { failure, type CliError } from "../cli-error.ts";
import type { ServerOptions } from "../options.ts";
import type { Surroundings } from "../surroundings.ts";
import { printable } from "../terminal/warnings.ts";

/** The parts of a request other than method and path. */
type ApiRequest = {
  readonly json?: unknown;
  readonly file?: FileBody;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A file that is streamed; `onSent` hears how many of its bytes are on their way. */
type FileBody = {
  readonly path: string;
  readonly bytes: number;
  readonly type: string;
  readonly onSent?: (bytes: number) => void;
};

/** An answer of the server that says no. */
type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly text: string;
  readonly position: number | undefined;
};

/** The REST API of a server. Every request is one that may arrive twice. */
export type Client = {
  /** Returns the JSON of an answer, or why there is none. @throws CliError where the server cannot be reached */
  call<T>(method: string, path: string, asked?: ApiRequest): Promise<T | Refusal>;
  /** Opens a download of the bytes from `from` on. @throws CliError where the server cannot be reached */
  open(path: string, from?: number): Promise<IncomingMessage | Refusal>;
};

/** Recognizes a {@link Refusal}. */
export function isRefusal(answer: unknown): answer is Refusal {
  return (
    typeof answer === "object" && answer !== null && "code" in answer && "status" in answer && "position" in answer
  );
}

/** Returns the error that describes a refusal to the user. */
export function refused(what: string, { status, text }: Refusal): CliError {
  return Object.assign(failure(`${what}: the server answered ${status}: ${printable(text).slice(0, 500)}`), { status });
}

const ATTEMPTS = 8;

const PAUSE_MS_MAX = 15_000;

/** "Retry later", from the service or from a proxy in front of it. */
const COME_BACK = new Set([429, 502, 503, 504]);

/** Creates a client, which tries again where a connection breaks or the server asks for patience. */
export function createClient({ url, key }: ServerOptions, { signal, wait, report }: Surroundings): Client {
  const authorization: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };

  async function send(method: string, path: string, asked: ApiRequest): Promise<IncomingMessage | Refusal> {
    const request: Exchange = {
      method,
      url: new URL(url + path),
      headers: { ...authorization, ...typeOf(asked), ...asked.headers },
      ...bodyOf(asked),
      signal,
    };
    for (let attempt = 1; ; attempt += 1) {
      const answer = await exchange(request).catch((error: unknown) => {
        signal.throwIfAborted();
        return error instanceof Error ? error : new Error(String(error));
      });
      if (!(answer instanceof Error) && answer.statusCode! < 300) return answer;
      const fault = answer instanceof Error ? answer.message : await refusalOf(answer);
      const isWorking = typeof fault !== "string" && fault.code === "idempotency_in_progress";
      const isTemporary =
        typeof fault === "string" ||
        isWorking ||
        (COME_BACK.has(fault.status) && fault.code !== "api_request_monthly_limit_exceeded");
      if (!isTemporary || (attempt >= ATTEMPTS && !isWorking)) {
        if (typeof fault === "string") throw failure(`${url} cannot be reached: ${fault}`);
        return fault;
      }
      const asked = answer instanceof Error ? Number.NaN : Number(answer.headers["retry-after"] ?? Number.NaN) * 1000;
      const pause = Number.isNaN(asked) ? Math.min(250 * 2 ** Math.min(attempt, 10), PAUSE_MS_MAX) : asked;
      if (!isWorking)
        report(
          `${method} ${path}: ${typeof fault === "string" ? fault : `${fault.status} ${fault.text}`}; once more\n`,
        );
      await wait(pause);
      signal.throwIfAborted();
    }
  }

  return {
    async call<T>(method: string, path: string, asked: ApiRequest = {}): Promise<T | Refusal> {
      const answer = await send(method, path, asked);
      if (isRefusal(answer)) return answer;
      const text = await textOf(answer);
      return (text === "" ? {} : JSON.parse(text)) as T;
    },
    open: (path, from = 0) => send("GET", path, from === 0 ? {} : { headers: { range: `bytes=${from}-` } }),
  };
}

function typeOf({ json, file }: ApiRequest): Record<string, string> {
  if (file !== undefined) return { "content-type": file.type };
  return json === undefined ? {} : { "content-type": "application/json" };
}

function bodyOf({ json, file }: ApiRequest): Pick<Exchange, "body"> {
  if (file !== undefined) {
    const open = (): Readable => {
      let sent = 0;
      const counted = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          sent += chunk.length;
          file.onSent?.(sent);
          done(null, chunk);
        },
      });
      const source = createReadStream(file.path, { highWaterMark: 1 << 18 });
      source.once("error", (error) => counted.destroy(error));
      counted.once("close", () => source.destroy());
      return source.pipe(counted);
    };
    return { body: { bytes: file.bytes, open } };
  }
  if (json === undefined) return {};
  const bytes = Buffer.from(JSON.stringify(json));
  return { body: { bytes: bytes.length, open: () => Readable.from([bytes]) } };
}

async function refusalOf(answer: IncomingMessage): Promise<Refusal | string> {
  let text: string;
  try {
    text = await textOf(answer);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  let body: { error?: unknown; code?: unknown; position?: unknown } = {};
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    // A proxy answered.
  }
  return {
    status: answer.statusCode!,
    code: typeof body.code === "string" ? body.code : "",
    text: typeof body.error === "string" ? body.error : text,
    position: typeof body.position === "number" ? body.position : undefined,
  };
}

/** A request. Its body can be opened again for another attempt. */
type Exchange = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: { readonly bytes: number; readonly open: () => Readable };
  readonly signal: AbortSignal;
};

/**
 * Sends a request and resolves with the head of its answer, even if the server answers before it has the whole body. There is no time limit: an archive
 * may take long. @throws Error where the connection breaks
 */
function exchange({ method, url, headers, body, signal }: Exchange): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const length = body === undefined ? {} : { "content-length": String(body.bytes) };
    const request = send(url, { method, headers: { ...headers, ...length }, signal });
    let answered = false;
    request.once("response", (answer) => {
      answered = true;
      resolve(answer);
    });
    request.on("error", reject);
    if (body === undefined) request.end();
    else {
      // After an answer has arrived, the only thing that can break is the rest of a body that the server does not want.
      pipeline(body.open(), request).catch((error: unknown) => {
        if (!answered) reject(error instanceof Error ? error : new Error(String(error)));
      });
    }
  });
}

/** Reads the text of an answer. @throws Error where the connection breaks */
async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
