import type { Environment } from "./options.ts";

/** What the command needs from where it runs. */
export type Surroundings = {
  readonly env: Environment;
  /** Prints a result, without its line break. */
  readonly print: (line: string) => void;
  /** Writes to the user's terminal unchanged. */
  readonly report: (text: string) => void;
  /** Whether `report` writes to a terminal, on which lines can be written over. */
  readonly isTerminal: boolean;
  /** Ends the command early. */
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Waits, or until the signal. */
  readonly wait: (milliseconds: number) => Promise<void>;
  /** Where it keeps what a later start needs. */
  readonly stateFolder: string;
};
