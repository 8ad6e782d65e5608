import type { Scope } from "@tidemark/credentials";
import type { Call } from "@tidemark/rpc";
import type { Identity } from "@tidemark/proto/common/v1/common";
import type { Clients } from "./clients.ts";
import type { Json } from "./http/json.ts";

/** What a member of an organization may be. */
export type Role = "owner" | "admin" | "member" | "viewer";

/**
 * Who may call a route. A key needs one of `scopes` (an empty list: any key) or each of `allScopes`,
 * a session one of `roles`; a kind left out is refused with the status beside it.
 */
export type Callers =
  | { readonly kind: "anyone" }
  | {
      readonly kind: "credentials";
      readonly key:
        | { readonly scopes: readonly Scope[] }
        | { readonly allScopes: readonly Scope[] }
        | { readonly refused: 401 | 403 };
      readonly session: { readonly roles: readonly Role[] } | { readonly refused: 401 | 403 };
      /** Also opened by the operator's bootstrap token. */
      readonly operator?: boolean;
    }
  /** The operator's bootstrap token only. */
  | { readonly kind: "operator" };

/**
 * The organization's bucket that a request is counted in (API specification, Rate limits). On routes
 * for anyone, every class but `none` means the bucket of the client's address.
 */
export type RateClass = "general" | "ingest" | "import" | "control_poll" | "none";

/** One query parameter as text; absent when it was not sent or blank. */
export type Query = Readonly<Record<string, string>>;

/** What a codec gets to build its request from. */
export type RouteInput = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** The parsed body of routes that take one; `{}` where it may be left out. Integers beyond 2^53 are JSON.rawJSON values on routes with `exactNumbers`. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly identity: Identity | undefined;
  /** Trimmed and validated; undefined when absent or blank. */
  readonly idempotencyKey: string | undefined;
  /** Tags of answers that the client has, `*` for any; see `readIfNoneMatch`. */
  readonly knownTags: readonly string[];
  /** `https://host` as the client reached us, without a trailing slash. */
  readonly baseUrl: string;
  /** Value of the session cookie, for sign-out. */
  readonly sessionToken: string | undefined;
  readonly cookieSecure: boolean;
};

/** What a codec makes of the answer. */
export type RouteReply = {
  /** JSON; or, with a `content-type` among the headers, the `raw` text of whatever that says. */
  readonly body: Json;
  /** The bytes of a long JSON text, which are sent instead of `body`. */
  readonly bytes?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stored answer of an earlier request with this key: adds `Idempotency-Replayed: true`. */
  readonly replayed?: boolean;
  /**
   * Names the answer, in URL-safe text: while its tag stays, clients need not take it again. Sent as a weak ETag; the client may keep the answer, and
   * asks before it uses it. The route lists status 304.
   */
  readonly etag?: string;
  /** The client has this answer: 304 with the tag, and the body is left away. */
  readonly notModified?: boolean;
};

type RouteFacts = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Template with `{name}` parts, as in OpenAPI: `/runs/{run_id}`. */
  readonly path: string;
  /** OpenAPI tag and one-line summary. */
  readonly tag: string;
  readonly summary: string;
  /** Longer text for the documentation. */
  readonly description?: string;
  readonly callers: Callers;
  /** Signing in and out: browsers must send an allowed `Origin` although no session is checked. */
  readonly originRequired?: boolean;
  /** Changes who may do what: the gateway knows of the change when it answers. */
  readonly changesAccess?: boolean;
  readonly rate: RateClass;
  readonly idempotency: "none" | "optional" | "required";
  /** `required`: a JSON object must come; `optional`: nothing or a JSON object. Absent: none is read. */
  readonly body?: "required" | "optional";
  /** Most bytes of the decoded body; 1,000,000 unless said. */
  readonly bodyBytesMax?: number;
  /** Keep the digits of integers beyond 2^53 (free-form documents). */
  readonly exactNumbers?: boolean;
  /** Query parameters that may be left out but not sent blank, which for all others means the default. */
  readonly queryNeverBlank?: readonly string[];
  /** JSON Schemas for the documentation; the codec does the validating. */
  readonly schemas: {
    readonly query?: Readonly<Record<string, Schema>>;
    /** Names in `query` that must be sent. */
    readonly queryRequired?: readonly string[];
    readonly body?: Schema;
    readonly response: Schema;
    /** Media type of the answer; `application/json` unless said. */
    readonly responseType?: string;
  };
  /** Statuses that the API specification lists for the route. */
  readonly statuses: readonly number[];
};

/** A JSON Schema (2020-12), as OpenAPI 3.1 uses it. */
export type Schema = Readonly<Record<string, unknown>>;

/** A REST route: everything the gateway needs to serve, guard, limit and document it. */
export type Route = RouteFacts & {
  readonly handle: (input: RouteInput, clients: Clients, call: Call) => Promise<RouteReply>;
};

/**
 * Declares a route. `decode` turns the request into the message of the one RPC that `rpc` makes,
 * `encode` turns the answer into JSON; both are pure.
 */
export function route<Request, Response>(
  record: RouteFacts & {
    readonly decode: (input: RouteInput) => Request;
    readonly rpc: (clients: Clients, request: Request, call: Call) => Promise<Response>;
    readonly encode: (response: Response, input: RouteInput) => RouteReply;
  },
): Route {
  const { decode, rpc, encode, ...facts } = record;
  return {
    ...facts,
    handle: async (input, clients, call) => encode(await rpc(clients, decode(input), call), input),
  };
}
