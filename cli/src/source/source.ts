import type { Item, RunItem } from "@tidemark/import-formats";
import type { Kind } from "../options.ts";

/** A source of runs. */
export type Source = {
  readonly kind: Exclude<Kind, "tidemark">;
  /** The name of the project of runs that name none. */
  readonly project: string;
  /** Milliseconds since 1970: the time of items without a time of their own. Unchanged as long as nothing was written. */
  readonly modifiedAt: number;
  /** Reads it from its beginning. */
  readonly items: () => AsyncIterable<Item>;
  /** Returns what identifies a run, even after the source was moved. */
  readonly identify: (run: RunItem) => Promise<string>;
  /** The path of a file that an item of a run names; undefined where it is not. */
  readonly find: (path: string, run: RunItem) => Promise<string | undefined>;
};
