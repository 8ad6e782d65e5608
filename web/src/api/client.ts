/** The server's refusal of a request, in the API's single error shape, or the lack of an answer. */
export class ApiError extends Error {
  /** The HTTP status; 0 if no answer arrived. */
  readonly status: number;
  /** The stable `code` of the answer, such as `run_search_invalid`, if it has one; `unreachable` if no answer arrived. */
  readonly code: string | undefined;
  /** The field of the request that is wrong, where the server names one. */
  readonly field: string | undefined;
  /** The column of the fault in a search text, from 1, where the server names one. */
  readonly position: number | undefined;
  /** Names the request in the logs of the server. */
  readonly requestId: string | undefined;

  constructor(status: number, { error, code, field, position }: ErrorBody, requestId?: string) {
    super(error);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.field = field;
    this.position = position;
    this.requestId = requestId;
  }
}

type ErrorBody = {
  readonly error: string;
  readonly code?: string;
  readonly field?: string;
  readonly position?: number;
};

/** Options of a call besides its path. */
export type CallOptions = {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
};

const refused = new Set<() => void>();

/** Calls `listener` whenever the server answers that the client is not signed in. Returns a function that ends that. */
export function onSignedOut(listener: () => void): () => void {
  refused.add(listener);
  return () => refused.delete(listener);
}

/**
 * Calls the REST API of the server that served this page, with its session cookie, and returns the JSON of the answer.
 * @throws ApiError when the server refuses or does not answer; `AbortError` when `signal` ends it
 */
export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
  const response = await send(path, options);
  return (await response.json()) as T;
}

/** As `call`, but returns the answer itself, for texts, files and streams; 304 is an answer too. A `body` of bytes is sent unchanged. */
export async function send(path: string, { method, body, signal, headers }: CallOptions = {}): Promise<Response> {
  const isJson = body !== undefined && !(body instanceof Blob);
  let response: Response;
  try {
    response = await fetch(path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      credentials: "same-origin",
      headers: { ...(isJson ? { "content-type": "application/json" } : {}), ...headers },
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError(0, { error: "The server does not answer.", code: "unreachable" });
  }
  if (response.ok || response.status === 304) return response;
  // An answer without JSON is not of the API; the error names its status then.
  const answer: unknown = await response.json().catch(() => undefined);
  throw refusal(response.status, answer, response.headers.get("x-request-id") ?? undefined);
}

/** Returns the error of a refusing answer, and notifies listeners if the client is not signed in. `body` is its JSON, if any. */
export function refusal(status: number, body: unknown, requestId: string | undefined): ApiError {
  if (status === 401) for (const listener of refused) listener();
  const found = body as Partial<ErrorBody> | null | undefined;
  // A proxy in front of the server may answer with its own page.
  const errorBody =
    typeof found?.error === "string" ? (found as ErrorBody) : { error: `The server answered with ${status}.` };
  return new ApiError(status, errorBody, requestId);
}
