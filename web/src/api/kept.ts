import { send } from "./client.ts";

type Kept = { readonly etag: string; readonly body: unknown; readonly size: number };

/** Answers that are kept, and characters of them; the least recently used go first. */
const KEPT_MAX = 100;
const CHARACTERS_MAX = 8_000_000;

const kept = new Map<string, Kept>();
let characters = 0;

/**
 * GET of a JSON document that is asked for again and again: with the tag of the answer that is still in memory, so that one without changes
 * costs a 304. Then the very same object comes back, so `===` tells whether anything changed.
 * @throws ApiError, `AbortError`
 */
export async function keptCall<T>(path: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<T> {
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

/** The body that is kept for a path, to show at once what may be old, and ask meanwhile. */
export function keptBody<T>(path: string): T | undefined {
  return kept.get(path)?.body as T | undefined;
}

/** Forgets everything: another session may see other things. */
export function forgetKept(): void {
  kept.clear();
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
