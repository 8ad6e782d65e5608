import type { GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Db } from "@tidemark/pg";
import type { Plans } from "@tidemark/plans";
import type { RunsService } from "@tidemark/proto/runs/v1/runs";
import type { Handlers } from "@tidemark/rpc";
import type { SearchThreads } from "../regex-search/search-threads.ts";

/** What the handlers use. */
export type RunsDeps = {
  readonly db: Db;
  /** The plans whose limits are enforced; undefined where they are not. */
  readonly plans: Plans | undefined;
  /** Where searches with regular expressions are done. */
  readonly searchThreads: SearchThreads;
  /** A new random UUID. */
  readonly newId: () => string;
};

/** The handlers of this service by RPC. */
export type RunsHandlers = Handlers<(typeof RunsService)["method"] & GenServiceMethods>;
