import type { IncomingMessage, ServerResponse } from "node:http";
import { answerAndClose } from "../gate/closing.ts";
import { toErrorAnswer } from "../errors.ts";
import type { RequestState, ServingContext } from "./context.ts";

/**
 * Decides again whether the caller of a request may do what it requests, and takes its current identity. Returns undefined where memory knows the credential.
 * @throws unauthenticated, forbidden, service_unavailable
 */
export function renewRights(state: RequestState): Promise<void> | undefined {
  const renewed = state.renew?.();
  if (renewed instanceof Promise) {
    return renewed.then((identity) => {
      state.identity = identity;
    });
  }
  if (renewed !== undefined) state.identity = renewed;
  return undefined;
}

type Watching = Pick<ServingContext, "rights">;

/** Refuses a body that is still arriving when the rights of its caller end, and closes the connection. Returns a function that ends the watch. */
export function watchArrival(
  { renew, route }: RequestState,
  request: IncomingMessage,
  { rights }: Watching,
): () => void {
  if (renew === undefined) return () => undefined;
  return rights.begin(renew, (refusal) => {
    if (!request.complete) answerAndClose(request.socket, toErrorAnswer(refusal, route.statuses));
  });
}

/** Ends an answer that is still being sent when the rights of its caller end. An answer that is incomplete by then must not look complete. */
export function watchAnswer(
  { renew }: RequestState,
  answer: ServerResponse,
  { rights }: Watching,
  end: () => void = () => answer.destroy(),
): void {
  if (renew !== undefined && !answer.closed) answer.once("close", rights.begin(renew, end));
}
