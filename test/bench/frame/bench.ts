import type { Mode } from "../../stack/stack.ts";
import type { BenchPostgres } from "./postgres.ts";
import type { Report } from "./report.ts";
import type { BenchStack } from "./stack.ts";

/** The context of a bench. */
export type BenchContext = {
  /** Whether the product runs in one process or in a process for each module. */
  readonly mode: Mode;
  /** Seconds that each case is measured. */
  readonly seconds: number;
  /** How often the compared loads are measured, in turn. */
  readonly rounds: number;
  readonly postgres: BenchPostgres;
  readonly report: Report;
  /** Starts the product over a new, empty database of the PostgreSQL of this bench; it ends with the bench. */
  readonly open: (settings?: Record<string, string>) => Promise<BenchStack>;
  /** Returns a size times `--scale`, at least `least` or 1. */
  readonly scaled: (size: number, least?: number) => number;
  /** Whether `--only` leaves a case of this name. */
  readonly wants: (name: string) => boolean;
};

/** A measurement that can be repeated by its name: `npm run bench -- <name>`. */
export type Bench = {
  /** A description of what it measures, with the rows of docs/benchmarks.md. */
  readonly about: string;
  /** Left out of `npm run bench -- --check` because it needs what a server does not have, such as a browser. */
  readonly onlyByName?: boolean;
  readonly run: (context: BenchContext) => Promise<void>;
};
