import type { Api } from "../stack/client.ts";
import type { SeededArtifacts } from "./seed-artifacts.ts";

/** Traces of a run, each with a step; the oldest one failed. */
export const TRACES = 300;
/** The oldest of them. */
export const TRACE_ID = "f".repeat(32);
/** Forks of a run. */
export const FORKS = 60;
/** Rich objects of a run. */
export const OBJECTS = 60;
/** A project of few runs, so that an export of it that reads all runs of its organization is seen. */
export const EXPORTED_PROJECT = "exported";
/** A project with reports. */
export const REPORTS_PROJECT = "0a1b2c3d-0000-4000-8000-000000000001";

/** An organization that is measured. */
export type Tenant = {
  readonly api: Api;
  /** A run with points, console lines, attributes, values of ranks and forks. */
  readonly full: string;
  /** Its project. */
  readonly projectId: string;
  /** A table of that run. */
  readonly table: number;
  /** Runs of the first page. */
  readonly page: readonly string[];
  /** Runs of the project that is exported, with some of everything. */
  readonly exported: readonly string[];
  /** Where the second page begins. */
  readonly cursor: string;
  readonly artifacts: SeededArtifacts;
};

/** A request, and how much it may read. */
export type Read = {
  readonly name: string;
  readonly method?: "POST";
  readonly path: (tenant: Tenant) => string;
  readonly body?: (tenant: Tenant) => unknown;
  /** The size of the answer, in runs, points, or other items that it lists. */
  readonly items: (json: { total: number; runs: unknown[] } & Record<string, unknown[]>) => number;
  /** Rows that may be read for each item, and for the request. */
  readonly each?: number;
  readonly base?: number;
  /** The first major version of PostgreSQL that reads so few. */
  readonly since?: number;
};

/** From this version on an index scan for one of several values keeps the order of the columns behind them. */
export const ORDERED_ARRAYS = 17;

/** A run of a list: itself, its project, and the keys and aggregates of a page. */
export const ROWS_OF_RUN = 12;
/** Rows that a request may read in addition. */
export const BASE_ROWS = 80;
/** The newest runs, or traces, that a search looks at before it turns to the index of words. */
export const NEWEST = 1000;
