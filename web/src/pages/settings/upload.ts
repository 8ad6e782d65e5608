import { byteWords } from "../../ui/words.ts";
import { addressOf } from "../../api/base-path.ts";
import { ApiError, refusal } from "../../api/client.ts";

/** How much of a body is on its way. */
export type Sent = { readonly sent: number; readonly total: number };

/** A browser does not distinguish these cases. */
const LOST = "The file could not be sent: the connection was lost, or the file was changed or is gone.";

/**
 * Sends bytes as `call` does, and reports the number of bytes sent so far; `fetch` cannot.
 * @throws ApiError when the server refuses or the connection ends; `AbortError` when `signal` ends it
 */
export function upload<T>(
  path: string,
  {
    body,
    headers = {},
    signal,
    onSent,
  }: {
    readonly body: Blob;
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
    readonly onSent: (sent: Sent) => void;
  },
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = (): void => {
      request.abort();
      reject(signal.reason as Error);
    };
    if (signal.aborted) {
      stop();
      return;
    }
    request.open("POST", addressOf(path));
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onSent({ sent: loaded, total });
    request.onload = () => {
      const answer = jsonOf(request.responseText);
      if (request.status >= 200 && request.status < 300 && answer !== undefined) resolve(answer as T);
      else reject(refusal(request.status, answer, request.getResponseHeader("x-request-id") ?? undefined));
    };
    request.onerror = () => reject(new ApiError(0, { error: LOST, code: "unreachable" }));
    request.onloadend = () => signal.removeEventListener("abort", stop);
    signal.addEventListener("abort", stop, { once: true });
    onSent({ sent: 0, total: body.size });
    request.send(body);
  });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy in front of the server may answer with its own page.
    return undefined;
  }
}

/** Whether all has left the browser, so that the server has the rest of the work. */
export function isSent({ sent, total }: Sent): boolean {
  return sent >= total;
}

/** Says how far an upload is. A percentage is full only at the end. */
export function uploadWords(progress: Sent): string {
  const { sent, total } = progress;
  if (isSent(progress)) return `All ${byteWords(total)} sent; the server is processing the file.`;
  return `${byteWords(sent)} of ${byteWords(total)} sent (${Math.floor((100 * sent) / total)}%).`;
}

/** Says what a canceled upload has left behind: until its end is there, an archive shows nothing. */
export function canceledWords(progress: Sent): string {
  const { sent, total } = progress;
  if (isSent(progress))
    return "The whole file was sent, so the server continues with it. This page no longer waits for it.";
  return `Canceled after ${byteWords(sent)} of ${byteWords(total)}. Nothing was imported.`;
}
