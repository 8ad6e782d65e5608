import { addressOf } from "./base-path.ts";
import { exactJson, parseExact } from "./exact-json.ts";

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
  /** For requests that sign in: they do not wait until someone has, and their 401 is not about the session. */
  readonly signsIn?: boolean;
};

const refused = new Set<() => void>();

/** Calls `listener` whenever the server answers that the client is not signed in. Returns a function that ends that. */
export function onSignedOut(listener: () => void): () => void {
  refused.add(listener);
  return () => refused.delete(listener);
}

let signIn: { readonly done: Promise<void>; readonly end: () => void } | undefined;

/** Lets all requests wait from now on, until `releaseRequests`. */
export function holdRequests(): void {
  if (signIn !== undefined) return;
  let end = (): void => undefined;
  const done = new Promise<void>((resolve) => (end = resolve));
  signIn = { done, end };
}

/** Sends the requests that wait: someone has signed in. */
export function releaseRequests(): void {
  signIn?.end();
  signIn = undefined;
}

/** Whether requests wait until someone signs in. */
export const areRequestsHeld = (): boolean => signIn !== undefined;

/**
 * Calls the REST API of the server that served this page, with its session cookie, and returns the JSON of the answer.
 * Integers keep every digit, in the body as well (`parseExact`).
 * @throws ApiError when the server refuses or does not answer; `AbortError` when `signal` ends it
 */
export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
  const response = await send(path, options);
  return parseExact(await response.text()) as T;
}

/**
 * As `call`, but returns the answer itself, for texts, files and streams; 304 is an answer too. A `body` of bytes is sent unchanged. A request that
 * the server refused because the session has ended did nothing, so it is sent once more after the next sign-in, if the page waits for that.
 */
export async function send(path: string, options: CallOptions = {}): Promise<Response> {
  const { signal, signsIn = false } = options;
  if (!signsIn) await signedIn(signal);
  let response = await sendOnce(path, options);
  if (response.status === 401 && !signsIn) {
    tellRefused();
    if (signIn !== undefined) {
      await signedIn(signal);
      response = await sendOnce(path, options);
    }
  }
  if (response.ok || response.status === 304) return response;
  // An answer without JSON is not of the API; the error names its status then.
  const answer: unknown = await response.json().catch(() => undefined);
  const requestId = response.headers.get("x-request-id") ?? undefined;
  return Promise.reject(
    signsIn ? errorOf(response.status, answer, requestId) : refusal(response.status, answer, requestId),
  );
}

async function sendOnce(path: string, { method, body, signal, headers }: CallOptions): Promise<Response> {
  const isJson = body !== undefined && !(body instanceof Blob);
  try {
    return await fetch(addressOf(path), {
      method: method ?? (body === undefined ? "GET" : "POST"),
      credentials: "same-origin",
      headers: { ...(isJson ? { "content-type": "application/json" } : {}), ...headers },
      ...(body === undefined ? {} : { body: isJson ? exactJson(body) : body }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError(0, { error: "The server is not responding.", code: "unreachable" });
  }
}

/** Waits until requests are not held. @throws the reason of `signal` when it ends first */
async function signedIn(signal: AbortSignal | undefined): Promise<void> {
  if (signIn === undefined) return;
  const { done } = signIn;
  await new Promise<void>((resolve, reject) => {
    const leave = (): void => reject(signal?.reason as Error);
    signal?.addEventListener("abort", leave, { once: true });
    void done.then(() => {
      signal?.removeEventListener("abort", leave);
      resolve();
    });
  });
}

function tellRefused(): void {
  for (const listener of refused) listener();
}

/** Returns the error of a refusing answer, and notifies listeners if the client is not signed in. `body` is its JSON, if any. */
export function refusal(status: number, body: unknown, requestId: string | undefined): ApiError {
  if (status === 401) tellRefused();
  return errorOf(status, body, requestId);
}

function errorOf(status: number, body: unknown, requestId: string | undefined): ApiError {
  const found = body as Partial<ErrorBody> | null | undefined;
  // A proxy in front of the server may answer with its own page.
  const errorBody =
    typeof found?.error === "string" ? (found as ErrorBody) : { error: `The server answered with ${status}.` };
  return new ApiError(status, errorBody, requestId);
}
