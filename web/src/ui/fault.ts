import { ApiError } from "../api/client.ts";
import { toast } from "./toast.tsx";

/** Returns the text about an error for the user. Faults of the server have the id of the request, to look up in its log. */
export function faultOf(error: unknown): { readonly text: string; readonly requestId?: string } {
  if (!(error instanceof ApiError)) return { text: "Something went wrong on this page. Reload it." };
  const text = sentence(error.message);
  return error.status >= 500 && error.requestId !== undefined ? { text, requestId: error.requestId } : { text };
}

/** Makes a sentence of a text of the API, which begins in lower case and has no full stop. */
export function sentence(text: string): string {
  const [first = "", ...rest] = text.trim();
  const joined = `${first.toUpperCase()}${rest.join("")}`;
  return joined === "" || /[.!?:]$/.test(joined) ? joined : `${joined}.`;
}

/** Does something and reports a failure in a note. */
export async function attempt(what: () => Promise<void>, then: () => void = () => undefined): Promise<void> {
  try {
    await what();
    then();
  } catch (error) {
    toast(faultOf(error).text, { kind: "bad" });
  }
}
