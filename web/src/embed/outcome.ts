/** What a request that returned no data means for the page. */
export type Outcome = {
  /** For the reader. */
  readonly text: string;
  /** Whether the page may not show these runs any more. */
  readonly isOver: boolean;
  /** Seconds until the next attempt; undefined: there is none. */
  readonly waitSeconds: number | undefined;
};

/** Seconds until the first attempt after a failure, doubled with each further one up to the highest. */
const RETRY_SECONDS = { first: 5, max: 60 } as const;

/**
 * Says what an answer means: its status, undefined where none arrived, and the value of its `Retry-After`. `failures` counts those in a row before this one.
 */
export function outcomeOf(status: number | undefined, retryAfter: string | null, failures: number): Outcome {
  const backOff = Math.min(RETRY_SECONDS.max, RETRY_SECONDS.first * 2 ** failures);
  const asked = Number(retryAfter);
  const waitSeconds = retryAfter !== null && asked >= 1 ? Math.ceil(asked) : backOff;
  switch (status) {
    case 401:
      return over("This embedded view has ended. Reload the page that shows it.");
    case 403:
      return over("This embedded view was withdrawn: the API key that made it is not valid any more.");
    case 404:
      return over("The runs of this embedded view do not exist any more.");
    case 400:
    case 413:
      return { text: "These runs have more data than can be shown here.", isOver: false, waitSeconds: undefined };
    case 429:
      return { text: "Too many requests.", isOver: false, waitSeconds };
    case undefined:
      return { text: "The server cannot be reached.", isOver: false, waitSeconds };
    default:
      return { text: `The data cannot be loaded (status ${status}).`, isOver: false, waitSeconds };
  }
}

function over(text: string): Outcome {
  return { text, isOver: true, waitSeconds: undefined };
}

/** Seconds between two refreshes while a run is going on, and when none is. */
const REFRESH_SECONDS = { running: 30, ended: 300 } as const;

/** Returns the seconds until the next refresh. */
export function refreshSeconds(runs: readonly { readonly status: string }[]): number {
  return runs.some(({ status }) => status === "running") ? REFRESH_SECONDS.running : REFRESH_SECONDS.ended;
}
