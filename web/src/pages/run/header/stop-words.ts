import type { RunControl } from "../../../api/run-types.ts";
import { spanWords } from "../../../ui/words.ts";

/** A step on the way from the request to the end; `at` is when it happened. */
export type StopStep = { readonly name: "Requested" | "Acknowledged" | "Stopped"; readonly at: string | null };

/** The texts about a stop request. */
export type StopWords = {
  readonly sentence: string;
  readonly tone: "wait" | "good" | "warn";
  readonly steps: readonly StopStep[];
};

const ACTORS: Readonly<Record<string, string>> = { user: "a person", api_key: "an API key", local: "this machine" };

/** Returns who asked, in words. */
function actorWords(actor: string | null): string {
  return ACTORS[actor ?? ""] ?? "someone";
}

/** A request without an answer for this long is shown as late; trainings poll every 10 to 30 seconds. */
const LATE_MS = 60_000;

/** Returns the texts about a stop request at a time; undefined if none was made. */
export function stopWords(control: RunControl, now: number): StopWords | undefined {
  const {
    stop_state: state,
    stop_requested_at: requested,
    stop_acknowledged_at: acknowledged,
    stop_completed_at: completed,
  } = control;
  if (state === "none" || requested === null) return undefined;
  const steps: StopStep[] = [
    { name: "Requested", at: requested },
    { name: "Acknowledged", at: acknowledged },
    { name: "Stopped", at: completed },
  ];
  const ago = (at: string): string => `${spanWords(now - Date.parse(at))} ago`;
  const who = actorWords(control.actor);
  if (state === "completed") {
    const took = spanWords(Date.parse(completed ?? requested) - Date.parse(requested));
    return { sentence: `Stopped ${took} after ${who} asked.`, tone: "good", steps };
  }
  if (state === "terminal_without_completion") {
    return { sentence: `The run ended by itself; ${who} had asked it to stop ${ago(requested)}.`, tone: "warn", steps };
  }
  if (state === "acknowledged" && acknowledged !== null) {
    return {
      sentence: `The training process acknowledged the request ${ago(acknowledged)} and is stopping.`,
      tone: "wait",
      steps,
    };
  }
  const isLate = now - Date.parse(requested) > LATE_MS;
  const waiting = isLate
    ? "The training process has not answered; it may be busy, gone, or not ask for stop requests."
    : "Waiting for the training process to answer.";
  return { sentence: `Stop requested ${ago(requested)} by ${who}. ${waiting}`, tone: isLate ? "warn" : "wait", steps };
}
