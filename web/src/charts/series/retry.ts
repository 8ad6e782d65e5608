import { ApiError } from "../../api/client.ts";

/** Pauses before a request that the server had no room for is sent again. */
const PAUSES_MS = [500, 1500, 4000, 8000];

/** Statuses that mean "later". 0: no answer. */
const LATER = new Set([0, 429, 502, 503, 504]);

/** Sends a read again, with growing pauses, while the server has no room for it. @throws ApiError when it refuses, or still has none */
export async function whileBusy<T>(signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ApiError) || !LATER.has(error.status)) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
      signal.throwIfAborted();
    }
  }
  return read();
}
