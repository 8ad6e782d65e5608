import type { Shot } from "../open-sender.ts";
import { queuedPoint } from "../sdk-requests.ts";
import { eventBody } from "./metric-bodies.ts";

/** Runs with very many keys, each of which gets a value now and then. */
export type WideProfile = {
  readonly runs: number;
  readonly keys: number;
  readonly keysPerRequest: number;
  /** Every key gets one value in this many seconds. */
  readonly everySeconds: number;
};

/** What Neptune's public load generator calls its widest profile. */
export const neptuneProfile: WideProfile = { runs: 25, keys: 99_000, keysPerRequest: 1000, everySeconds: 25 };

/** Which part of which run the request of this number is for, and at which step. */
export function widePlace(
  { runs, keys, keysPerRequest }: WideProfile,
  index: number,
): { run: number; firstKey: number; keys: number; step: number } {
  const parts = Math.ceil(keys / keysPerRequest);
  const firstKey = (Math.floor(index / runs) % parts) * keysPerRequest;
  return {
    run: index % runs,
    firstKey,
    keys: Math.min(keysPerRequest, keys - firstKey),
    step: Math.floor(index / (runs * parts)),
  };
}

/** Requests a second of a profile. */
export function wideRate({ runs, keys, keysPerRequest, everySeconds }: WideProfile): number {
  return (runs * Math.ceil(keys / keysPerRequest)) / everySeconds;
}

/** Name of a key; they sort by their numbers. */
export function wideKey(key: number): string {
  return `model/layer/${String(key).padStart(6, "0")}/grad_norm`;
}

/** The texts of this many numbers recur; drawing and printing new ones would be the generator's work, not the server's. */
const VALUE_TEXTS = 8191;

/** Makes the requests of a profile, each as `instantml` 0.1.1 sends a step from its queue. @param keysMax as many keys as are ever sent */
export function wideShots(
  tape: Float64Array,
  keysMax: number,
): (place: { runId: string; firstKey: number; keys: number; step: number }) => Shot {
  const names = Array.from({ length: keysMax }, (_, key) => `"${wideKey(key)}": `);
  const values = Array.from(tape.subarray(0, VALUE_TEXTS), String);
  return ({ runId, firstKey, keys, step }) => {
    const from = (firstKey * 31 + step * 977) % VALUE_TEXTS;
    let text = "";
    for (let key = 0; key < keys; key += 1) {
      text += `${key === 0 ? "" : ", "}${names[firstKey + key]}${values[(from + key) % VALUE_TEXTS]}`;
    }
    return queuedPoint(runId, eventBody(text, step));
  };
}
