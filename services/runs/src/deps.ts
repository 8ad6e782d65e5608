import type { GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { ChangePublisher } from "@tidemark/bus";
import type { Db } from "@tidemark/pg";
import type { PlanGate } from "@tidemark/requests";
import type { Plans } from "@tidemark/limits";
import type { RunsService } from "@tidemark/proto/runs/v1/runs";
import type { Handlers } from "@tidemark/rpc";
import type { ColumnKeeper, SortKeyAsks } from "./columns/sorted-columns.ts";
import type { DeletionPropagator } from "./deletion/deletion-propagator.ts";
import type { Staleness } from "./life/staleness.rules.ts";
import type { RunCopier } from "./copy/run-copier.ts";
import type { RunFollower } from "./move/run-follower.ts";
import type { KeyCatalogue } from "./keys/key-catalogue.ts";
import type { SearchThreads } from "./regex-search/search-threads.ts";

/** Dependencies of the handlers. */
export type RunsDeps = {
  readonly db: Db;
  /** The plans whose limits are enforced; undefined where they are not. */
  readonly plans: Plans | undefined;
  /** Refuses bytes beyond the plan. */
  readonly storageGate: PlanGate;
  /** Refuses points of a month beyond the plan. */
  readonly pointGate: PlanGate;
  /** Refuses trace events of a month beyond the plan. */
  readonly eventGate: PlanGate;
  /** Where searches with regular expressions are done. */
  readonly searchThreads: SearchThreads;
  /** Notified of the metrics that lists are sorted by. */
  readonly sortKeys: SortKeyAsks;
  /** Notified of the columns that tables are sorted by. */
  readonly columnKeeper: Pick<ColumnKeeper, "ask">;
  /** The keys of projects. */
  readonly keyCatalogue: KeyCatalogue;
  /** Which runs are stale, by the clock of this service. */
  readonly staleness: Staleness;
  /** Makes the runs of a project follow its deletion, restoration or renaming. */
  readonly deletionPropagator: DeletionPropagator;
  /** Makes what other services keep of moved runs follow them. */
  readonly runFollower: RunFollower;
  /** Makes the copies that were requested. */
  readonly runCopier: RunCopier;
  /** Days during which deleted projects and runs can be restored. */
  readonly graceDays: number;
  /** Called with committed changes. */
  readonly noteChange: ChangePublisher["note"];
  /** A new random UUID. */
  readonly newId: () => string;
};

/** The handlers of this service by RPC. */
export type RunsHandlers = Handlers<(typeof RunsService)["method"] & GenServiceMethods>;
