import { send } from "./client.ts";
import { parseExact } from "./exact-json.ts";

/** A request that is under way, for all who read its path. */
type Request = {
  readonly body: Promise<unknown>;
  readonly ending: AbortController;
  /** It ends when the last one leaves. */
  readers: number;
  /** Made for a reader that is not there yet. */
  isAhead: boolean;
};

/** Milliseconds after which an answer that was requested ahead, and that nothing has read, is too old. */
const AHEAD_MS = 10_000;

const requests = new Map<string, Request>();
/** Answers that were requested ahead and wait to be read, and when they arrived. */
const ahead = new Map<string, { readonly body: unknown; readonly at: number }>();

/** How a document is read. */
type QueryOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Something has changed, so that a request which began before does not count. */
  readonly again?: boolean;
};

/**
 * Reads a JSON document of the API, integers with every digit (`parseExact`). Readers of a path share a request, also one that was made
 * ahead. An answer that is kept costs a 304 if it has not changed; then the same object is returned, so `===` shows whether anything changed.
 * @throws ApiError, `AbortError`
 */
export async function query<T>(path: string, options: QueryOptions = {}): Promise<T> {
  const { signal, again = false } = options;
  signal?.throwIfAborted();
  const arrived = takeAhead<T>(path);
  if (arrived !== undefined && !again) return arrived;
  const request = (again ? undefined : requests.get(path)) ?? begin(path);
  request.isAhead = false;
  return bodyOf<T>(path, request, signal);
}

/**
 * Requests a document that a page will read once its part of the bundle is there. Resolves when the answer has arrived, or when there is
 * none and the page has to make its own request.
 */
export async function queryAhead(path: string): Promise<void> {
  if (ahead.has(path)) return;
  const request = requests.get(path) ?? begin(path);
  request.isAhead ||= request.readers === 0;
  // The page makes its own request then, and shows what is wrong.
  await request.body.catch(() => undefined);
}

/** Takes an answer that was requested ahead and has arrived, to draw it immediately; once, and only while it is young. */
export function takeAhead<T>(path: string): T | undefined {
  const found = ahead.get(path);
  ahead.delete(path);
  return found === undefined || performance.now() - found.at > AHEAD_MS ? undefined : (found.body as T);
}

/** The last answer to a path that is kept: shown immediately, although it may be old, while a request is under way. */
export function lastAnswer<T>(path: string): T | undefined {
  return keptAnswer(path)?.body as T | undefined;
}

/** Forgets everything: another session may see other things. */
export function forgetQueries(): void {
  dropAnswers();
  ahead.clear();
  requests.clear();
}

function begin(path: string): Request {
  const ending = new AbortController();
  const read = async (): Promise<unknown> => {
    try {
      const before = keptAnswer(path);
      const headers: Record<string, string> = before === undefined ? {} : { "if-none-match": before.tag };
      const response = await send(path, { signal: ending.signal, headers });
      const isSame = response.status === 304 && before !== undefined;
      const text = isSame ? "" : await response.text();
      const body: unknown = isSame ? before.body : parseExact(text);
      // An answer to a request that is not the latest of its path may be older than the one that is kept.
      if (requests.get(path) !== request) return body;
      const tag = response.headers.get("etag");
      if (isSame) keepAnswer(path, before);
      else if (tag === null) dropAnswer(path);
      else keepAnswer(path, { tag, body, characters: text.length });
      if (request.isAhead) ahead.set(path, { body, at: performance.now() });
      return body;
    } finally {
      end(path, request);
    }
  };
  const request: Request = { body: read(), ending, readers: 0, isAhead: false };
  requests.set(path, request);
  return request;
}

function end(path: string, request: Request): void {
  if (requests.get(path) === request) requests.delete(path);
}

/** Waits for the answer of a request, or until the reader leaves. */
function bodyOf<T>(path: string, request: Request, signal: AbortSignal | undefined): Promise<T> {
  request.readers += 1;
  return new Promise<T>((resolve, reject) => {
    const leave = (): void => {
      request.readers -= 1;
      reject(signal?.reason as Error);
      if (request.readers > 0) return;
      end(path, request);
      request.ending.abort();
    };
    signal?.addEventListener("abort", leave, { once: true });
    void request.body
      .then((body) => resolve(body as T), reject)
      .finally(() => signal?.removeEventListener("abort", leave));
  });
}

/** An answer of the API that is kept; its tag asks the server whether it is still the same. */
type Answer = { readonly tag: string; readonly body: unknown; readonly characters: number };

/** Answers that are kept, and characters of them; the least recently used go first. */
const ANSWERS_MAX = 100;
const CHARACTERS_MAX = 8_000_000;

const answers = new Map<string, Answer>();
let characters = 0;

/** Returns the answer that is kept under a name. */
function keptAnswer(name: string): Answer | undefined {
  return answers.get(name);
}

/** Keeps an answer in place of the one before, unless it is a large part of all that may be kept. */
function keepAnswer(name: string, answer: Answer): void {
  dropAnswer(name);
  if (answer.characters > CHARACTERS_MAX / 4) return;
  answers.set(name, answer);
  characters += answer.characters;
  for (const oldest of answers.keys()) {
    if (answers.size <= ANSWERS_MAX && characters <= CHARACTERS_MAX) break;
    dropAnswer(oldest);
  }
}

/** Drops the answer that is kept under a name, if there is one. */
function dropAnswer(name: string): void {
  characters -= answers.get(name)?.characters ?? 0;
  answers.delete(name);
}

/** Drops all answers. */
function dropAnswers(): void {
  answers.clear();
  characters = 0;
}
