import { ApiError, refusal } from "./client.ts";

/** How much of a body is on its way. */
export type Sent = { readonly sent: number; readonly total: number };

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
    request.open("POST", path);
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

/** A browser does not distinguish these cases. */
const LOST = "The file could not be sent: the connection was lost, or the file was changed or is gone.";

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy in front of the server may answer with its own page.
    return undefined;
  }
}
