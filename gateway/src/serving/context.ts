import type { Blob } from "@tidemark/blob";
import type { Identity } from "@tidemark/proto/common/v1/common";
import type { Log, Metrics } from "@tidemark/telemetry";
import type { Turn, Turns } from "@tidemark/work";
import type { EmbedSession } from "@tidemark/proto/reports/v1/embeds";
import type { Authenticator, OperatorCheck } from "../auth/authenticator.ts";
import type { RenewalOf, RenewRights, RightsWatch } from "../auth/rights.ts";
import type { EmbedAccess } from "../auth/embed-access.ts";
import type { Clients } from "../clients.ts";
import type { BodyAccount, BodyMemory } from "../gate/body-memory.ts";
import type { EventStreams } from "../changes/event-streams.ts";
import type { DialectOf } from "../dialects/dialect-of.ts";
import type { Dashboard } from "../dashboard/dashboard.ts";
import type { OriginRule } from "../http/origin.ts";
import type { EmbedLimits } from "../limits/embed-limits.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { Counted, RequestCounts } from "../limits/request-counts.ts";
import type { HandlerContext, Route } from "../route.ts";
import type { Spool } from "../spool/spool.ts";
import type { Admissions } from "../gate/admissions.ts";
import type { ReadPace } from "../gate/read-pace.ts";

/** What every request needs to be served. */
export type ServingContext = {
  readonly clients: Clients;
  readonly objects: Blob;
  readonly spool: Spool;
  /** Milliseconds over which a client's pace of reading an answer is measured. */
  readonly stallMs: number;
  readonly authenticator: Authenticator;
  readonly checkOperator: OperatorCheck;
  readonly limiter: Limiter;
  readonly requestCounts: RequestCounts;
  readonly embeds: EmbedAccess;
  readonly embedLimits: EmbedLimits;
  readonly bodies: BodyMemory;
  readonly readPace: ReadPace;
  readonly turns: Turns;
  readonly admissions: Admissions;
  readonly streams: EventStreams;
  readonly rights: RightsWatch;
  readonly renewalOf: RenewalOf;
  /** The pages for browsers; undefined: there are none. */
  readonly dashboard: Dashboard | undefined;
  readonly embedParts: HandlerContext["embedParts"];
  readonly dialectOf: DialectOf;
  readonly isAllowedOrigin: OriginRule;
  /** Reads the latest changes to credentials into memory. */
  readonly refreshAccess: () => Promise<void>;
  /** Notes that a run of an organization wrote or polled. */
  readonly alive: (orgId: string, runId: string) => void;
  /** The URL under which clients reach us, where it is configured. */
  readonly publicUrl: string | undefined;
  /** Milliseconds that a request may take. */
  readonly deadlineMs: number;
  readonly log: Log;
  readonly metrics: Metrics;
  /** True once the process wants no further requests. */
  readonly draining: () => boolean;
};

/** The guard's state for a request that it has admitted. */
export type RequestState = {
  readonly route: Route;
  /** As the guard found it, or, after the body has arrived, as it was then. */
  identity: Identity | undefined;
  /** Decides again whether the caller may do this; undefined if no right can end. For a signed address, set when its caller is known. */
  renew: RenewRights | undefined;
  /** The embed session whose token was presented, on embed routes. */
  readonly embedSession: EmbedSession | undefined;
  /** Why there is no identity, on routes that do not need one. */
  readonly refusal: Error | undefined;
  readonly idempotencyKey: string | undefined;
  readonly baseUrl: string;
  /** Milliseconds left for the work itself. */
  timeoutMs: number;
  /** The account charged for its body, where that may be large, and its answer; undefined until there is one of them. */
  account: BodyAccount | undefined;
  /** The turn of its organization, once it has begun. */
  turn: Turn | undefined;
  /** Gives up waiting for the turn. */
  withdraw: (() => void) | undefined;
  /** True once the answer is sent or the client has left. */
  isClosed: boolean;
};

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the guard; undefined on requests without a route. */
    state: RequestState | undefined;
    /** Its count against the month; undefined if not counted. */
    counted: Counted | undefined;
  }
}
