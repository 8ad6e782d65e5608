import { send } from "./client.ts";

type Kept = { readonly etag: string; readonly body: unknown; readonly size: number };

/** Answers that are kept, and characters of them; the least recently used go first. */
const KEPT_MAX = 100;
const CHARACTERS_MAX = 8_000_000;

const kept = new Map<string, Kept>();
let characters = 0;

/** A pending answer, or its body and when it arrived. */
type Ahead = { readonly answer: Promise<unknown>; there?: { readonly body: unknown; readonly at: number } };

/** An answer that was not taken for this long is too old. */
const AHEAD_MS = 10_000;

/** Answers that were asked for before the page that needs them was drawn, by path. */
const ahead = new Map<string, Ahead>();

/**
 * GET of a JSON document that is requested repeatedly: sends the tag of the answer that is still in memory, so that an unchanged one
 * costs a 304. Then the very same object is returned, so `===` shows whether anything changed.
 * @throws ApiError, `AbortError`
 */
export async function cachedGet<T>(path: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<T> {
  const begun = ahead.get(path);
  ahead.delete(path);
  if (begun === undefined || isOld(begun)) return read<T>(path, signal);
  const body = await begun.answer;
  signal?.throwIfAborted();
  return body as T;
}

/**
 * Asks for a document that a page will need once its part of the bundle is there: the first `keptCall` of the very same path gets this answer.
 * Resolves when it has arrived, or when there is none and the page has to make its own request.
 */
export async function prefetch(path: string): Promise<void> {
  if (ahead.has(path)) return;
  const own: Ahead = { answer: read(path) };
  ahead.set(path, own);
  try {
    own.there = { body: await own.answer, at: performance.now() };
  } catch {
    if (ahead.get(path) === own) ahead.delete(path);
  }
}

/** Takes a prefetched answer, if it has arrived, to draw it immediately. */
export function takePrefetched<T>(path: string): T | undefined {
  const begun = ahead.get(path);
  if (begun?.there === undefined) return undefined;
  ahead.delete(path);
  return isOld(begun) ? undefined : (begun.there.body as T);
}

const isOld = ({ there }: Ahead): boolean => there !== undefined && performance.now() - there.at > AHEAD_MS;

async function read<T>(path: string, signal?: AbortSignal): Promise<T> {
  const before = kept.get(path);
  const headers: Record<string, string> = before === undefined ? {} : { "if-none-match": before.etag };
  const response = await send(path, { signal, headers });
  if (response.status === 304 && before !== undefined) {
    keep(path, before);
    return before.body as T;
  }
  const text = await response.text();
  const body = JSON.parse(text) as T;
  const etag = response.headers.get("etag");
  if (etag === null) forget(path);
  else keep(path, { etag, body, size: text.length });
  return body;
}

/** The cached body for a path: shown immediately, although it may be old, while a request is under way. */
export function keptBody<T>(path: string): T | undefined {
  return kept.get(path)?.body as T | undefined;
}

/** Forgets everything: another session may see other things. */
export function forgetKept(): void {
  kept.clear();
  ahead.clear();
  characters = 0;
}

function keep(path: string, answer: Kept): void {
  forget(path);
  if (answer.size > CHARACTERS_MAX / 4) return;
  kept.set(path, answer);
  characters += answer.size;
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT_MAX && characters <= CHARACTERS_MAX) break;
    forget(oldest);
  }
}

function forget(path: string): void {
  characters -= kept.get(path)?.size ?? 0;
  kept.delete(path);
}
