import type { Item, RunItem } from "@tidemark/import-formats";
import type { Kind } from "../options.ts";

/** What runs are read from. */
export type Source = {
  readonly kind: Exclude<Kind, "tidemark">;
  /** The name of the project of runs that name none. */
  readonly project: string;
  /** Milliseconds since 1970: the time of what has no time of its own. The same as long as nothing was written. */
  readonly modifiedAt: number;
  /** Reads it from its beginning. */
  readonly items: () => AsyncIterable<Item>;
  /** What a run is recognized by, also when the source was moved. */
  readonly identify: (run: RunItem) => Promise<string>;
  /** The path of a file that an item of a run names; undefined where it is not. */
  readonly find: (path: string, run: RunItem) => Promise<string | undefined>;
};
