import type { AppError } from "@tidemark/errors";
import type { DbOptions } from "@tidemark/pg";
import type { RegexSearch } from "./find-runs.ts";

/** What a search thread begins with. */
export type ThreadData = { readonly connection: Pick<DbOptions, "url" | "role" | "application"> };

/** A search for a thread. */
export type ThreadTask = { readonly number: number; readonly search: RegexSearch };

/** What became of it: the runs; an error for the caller; or one for the log. */
export type ThreadAnswer =
  | { readonly number: number; readonly ids: readonly string[] }
  | {
      readonly number: number;
      readonly fault: Pick<AppError, "reason" | "message" | "field" | "position" | "retryAfterSeconds">;
    }
  | { readonly number: number; readonly failure: string };
