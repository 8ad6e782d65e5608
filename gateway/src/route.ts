import type { IncomingMessage } from "node:http";
import type { Blob } from "@tidemark/blob";
import type { Call } from "@tidemark/rpc";
import type { EmbedSession } from "@tidemark/proto/reports/v1/embeds";
import type { Identity } from "@tidemark/proto/common/v1/common";
import type { EmbedParts } from "@tidemark/web/build";
import type { ExactNumbers } from "@tidemark/documents";
import type { Callers, CredentialCallers } from "./auth/callers.ts";
import type { SealedCaller } from "./auth/rights.ts";
import type { EventStreams, OpenStream } from "./changes/event-streams.ts";
import type { Clients } from "./clients.ts";
import type { ErrorAnswer } from "./errors.ts";
import { COUNTED_BYTES_MIN, type BodyAccount } from "./gate/body-memory.ts";
import type { Json } from "./http/json.ts";
import type { Page } from "./http/page.ts";
import type { ChosenSpan } from "./http/range.ts";
import type { RateClass } from "./limits/rates.rules.ts";
import type { RequestExports } from "./spool/request-exports.ts";
import type { KeptExport } from "./spool/spool.ts";

/** One query parameter as text; absent when it was not sent or blank. */
export type Query = Readonly<Record<string, string>>;

/** What a decoder reads. */
export type RouteInput = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** The parsed body of routes that take one; `{}` where it may be left out. Integers beyond 2^53 are JSON.rawJSON values on routes with `exactNumbers`. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly identity: Identity | undefined;
  /** The token's session, on routes for embed tokens. */
  readonly embedSession?: EmbedSession | undefined;
  /** Trimmed and validated; undefined when absent or blank. */
  readonly idempotencyKey: string | undefined;
  /** Tags of answers that the client has, `*` for any; see `readIfNoneMatch`. */
  readonly knownTags: readonly string[];
  /** `https://host` under which the client reached us, without a trailing slash. */
  readonly baseUrl: string;
  /** Value of the session cookie, for sign-out. */
  readonly sessionToken: string | undefined;
  /** What the browser keeps while it signs in elsewhere. */
  readonly loginSecret: string | undefined;
  readonly cookieSecure: boolean;
  /** The client is on this machine, and names it by a loopback name. */
  readonly isFromThisMachine: boolean;
};

/** The context of a handler that carries bytes or checks credentials. */
export type HandlerContext = {
  /** The request, whose body the handler reads. */
  readonly request: IncomingMessage;
  readonly objects: Blob;
  /**
   * Starts a call that has its own time, because a body may take any time to arrive. For the same reason the rights of the caller are decided again.
   * @throws unauthenticated, forbidden, service_unavailable
   */
  readonly newCall: () => Promise<Call>;
  /**
   * Continues for the caller that a signed address names, who must be one of these: requires its rights now, and whenever a caller's rights are checked.
   * @throws unauthenticated, forbidden, service_unavailable
   */
  readonly actFor: (caller: SealedCaller, callers: CredentialCallers) => Promise<void>;
  /** Whether the key of an embed session may do what it could when it made the session. @throws service_unavailable */
  readonly isSourceActive: (session: EmbedSession) => Promise<boolean>;
  /** The program and the style of the page of embedded views. */
  readonly embedParts: () => Promise<EmbedParts>;
  readonly exports: RequestExports;
  /** Takes a place for a stream of changes. @throws rate_limit_exceeded, service_unavailable */
  readonly openStream: EventStreams["open"];
  /** Removes the request from the count of its address, on pages of embed sessions, whose readers may share one. */
  readonly refundAddress: () => void;
  /** Counts a read of the data that a share link opens. @throws rate_limit_exceeded */
  readonly countLink: (shareId: string) => void;
  /** The account charged for a body that the handler reads; undefined for a body that is known to be small. */
  readonly account: BodyAccount | undefined;
  /** Charges bytes that are held in memory to the request. @throws service_unavailable */
  readonly reserveMemory: (bytes: number) => void;
};

/** What an encoder may read of the request. Its body is no longer available then. */
export type EncoderInput = Omit<RouteInput, "body">;

/** The reply that an encoder makes from the response. */
export type RouteReply = {
  /** JSON; with a `content-type` among the headers, the `raw` text of that type. */
  readonly body: Json;
  /** The bytes of a long JSON text, which are sent instead of `body`. */
  readonly bytes?: Buffer;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Where the browser is sent instead, with status 303. */
  readonly redirect?: string;
  /** True for the stored answer of an earlier request with this key: adds `Idempotency-Replayed: true`. */
  readonly replayed?: boolean;
  /**
   * Names the answer in URL-safe text; the same tag means the same answer. Sent as a weak ETag: the client may keep
   * the answer and must ask before it uses it. The route lists status 304.
   */
  readonly etag?: string;
  /** The client has this answer: sends 304 with the tag and no body. */
  readonly notModified?: boolean;
  /** Ids of runs for which the request is a sign of life although its path does not name them. */
  readonly heartbeatRunIds?: readonly string[];
  /** An object whose bytes are sent instead of `body`. */
  readonly file?: StoredFile;
  /** A page that is sent instead of `body`, on routes of this type. */
  readonly page?: Page;
  /** Pieces that are sent instead of `body`, of the `content-type` among the headers. */
  readonly stream?: AnswerStream;
  /** An export that is sent instead of `body`, of the `content-type` among its headers. */
  readonly export?: KeptExport;
  /** The part of an export that `Range` asks for. */
  readonly exportPart?: KeptExport;
  /** Events that are sent instead of `body`, as they happen. */
  readonly events?: OpenStream;
};

/** An answer that is produced while it is sent. */
export type AnswerStream = {
  /** Asked for the next piece when the client has room for it, and abandoned when the client has left. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Bytes of all pieces, where that is known. */
  readonly sizeBytes?: number;
  /** Names the bytes in URL-safe text: sent as a strong ETag, with which a part of them can be requested. */
  readonly tag?: string;
  /** Which bytes of a file the pieces are; it is never compressed. */
  readonly span?: ChosenSpan;
};

/** Bytes of the caller's organization, as clients get them. */
export type StoredFile = {
  readonly objectId: string;
  readonly sizeBytes: number;
  /** As a client sent it. */
  readonly mimeType: string;
  /** As a client sent it; its last part makes the file name. */
  readonly name: string;
};

/** A foreign protocol that a route speaks: its media types, and its shape of errors. */
export type Protocol = {
  /** Media types that the body may have; the first one is used for errors if the request names none of them. */
  readonly mediaTypes: readonly string[];
  /** Reads a body, which is decompressed and may be empty, in turns with other work of the process. @throws bad_request */
  readonly parse: (bytes: Buffer, mediaType: string) => Promise<RouteInput["body"]>;
  /** Writes an error for a client that sent a body of this type. */
  readonly writeError: (
    answer: ErrorAnswer,
    mediaType: string,
  ) => { readonly mediaType: string; readonly body: Buffer | string };
  /** JSON Schema of errors. */
  readonly errorSchema: Schema;
};

/** A foreign API: routes below prefixes of their own, which answer as clients of another product expect. See ADR 62. */
export type Dialect = {
  readonly name: string;
  /** Beginnings of paths; every error below them has the shape of the dialect. */
  readonly prefixes: readonly string[];
  /** The API key may be the password of Basic credentials, with any user name. */
  readonly takesBasic: boolean;
  /** Reads the query of a GET as the fields of a body, in place of which it is used. @throws bad_request */
  readonly readQuery: (text: string) => RouteInput["body"];
  /** Writes an error; `hasRoute` is false where no route has the method and the path. */
  readonly writeError: (answer: ErrorAnswer, hasRoute: boolean) => DialectError;
};

/** An error as a dialect answers it; the body is JSON. */
export type DialectError = { readonly status: number; readonly body: string };

type RouteFacts = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /**
   * Template with `{name}` parts, as in OpenAPI: `/runs/{run_id}`. In routes of dialects, `{name*}` at the end takes the rest of the path, slashes
   * included; the parameter is called `*`.
   */
  readonly path: string;
  /** OpenAPI tag and one-line summary. */
  readonly tag: string;
  readonly summary: string;
  /** Longer text for the documentation. */
  readonly description?: string;
  readonly callers: Callers;
  /** Signing in and out: browsers must send an allowed `Origin` although no session is checked. `where sent`: an origin that is sent must be allowed. */
  readonly originRequired?: true | "where sent";
  /** Works only for clients on this machine that use a loopback name and no proxy; for others it seems switched off. */
  readonly loopbackOnly?: boolean;
  /** Changes who may do what: the gateway waits until it knows of the change before it answers. */
  readonly changesAccess?: boolean;
  readonly rate: RateClass;
  /** A training process calls it: that it succeeds is a sign of life of the run in the path. */
  readonly isHeartbeat?: boolean;
  /** It ends when the client leaves, as GET does unless it is a poll: reads in the form of another method, and long work that can be sent again. */
  readonly endsWithClient?: boolean;
  /** Counts against the monthly allowance and is served even when that is used up: stops, usage documents, data of embeds. */
  readonly monthQuota?: "never_refused";
  /** A route of embed sessions: it has a limit of its own, which is always on, and no cache keeps its answers. */
  readonly embed?: "create" | "policy" | "page" | "current" | "data";
  readonly idempotency: "none" | "optional" | "required";
  /** Most characters of the idempotency key; 255 unless said. */
  readonly idempotencyKeyMax?: number;
  /** `required`: a JSON object; `optional`: nothing or a JSON object; absent: no body is read. */
  readonly body?: "required" | "optional";
  /** The handler reads the body itself while it arrives: a JSON object, or bytes of any type. */
  readonly streamed?: "json" | "bytes";
  /** Reads the body and writes errors instead of the gateway's own rules. */
  readonly protocol?: Protocol;
  /** The foreign API that the route belongs to: decides its credentials, its query and its errors. Its queries are read as bodies, `query` is empty. */
  readonly dialect?: Dialect;
  /** Most bytes of the decoded body; 1,000,000 unless said. */
  readonly bodyBytesMax?: number;
  /** Keeps the digits of integers beyond 2^53 (free-form documents), or of all numbers (documents with a checksum). */
  readonly exactNumbers?: ExactNumbers;
  /** Reads the bare tokens NaN, Infinity and -Infinity, which Python writes: metric values, and texts in free-form documents. Other fields refuse them. */
  readonly bareTokens?: boolean;
  /** Request headers for the documentation, with what they say. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** Query parameters that may be left out but not sent blank. All others may be blank, which means absent. */
  readonly queryNeverBlank?: readonly string[];
  /** JSON Schemas for the documentation. Those of query and body come from the descriptions by which the decoder reads. */
  readonly schemas: {
    /** The schema of the parameters as an object. */
    readonly query?: Schema;
    readonly body?: Schema;
    readonly response: Schema;
    /** Media type of the answer; `application/json` unless said. `application/octet-stream` answers with a file, whole or in part; `text/html` with a page, also for errors. */
    readonly responseType?: string;
    /** Other media types that the answer may have on request, as texts. */
    readonly otherTypes?: readonly string[];
  };
  /** Statuses that the API specification lists for the route. */
  readonly statuses: readonly number[];
};

/** A JSON Schema (2020-12), as OpenAPI 3.1 uses it. */
export type Schema = Readonly<Record<string, unknown>>;

/** A REST route with everything that the gateway needs to serve, guard, limit and document it. */
export type Route = RouteFacts & {
  /** Reads the body before it returns its promise: afterwards the input has none, so that it need not be kept until the answer. */
  readonly handle: (input: RouteInput, clients: Clients, call: Call, transfer: HandlerContext) => Promise<RouteReply>;
};

/**
 * Declares a route. `decode` turns the HTTP request into the message of the one RPC that `rpc` makes,
 * `encode` turns the response into JSON; it also gets what was decoded. Both are pure. Where a body or an answer is long, they work in turns; a `decode`
 * that works in turns has read the body before it returns its promise.
 */
export function route<Request, Response>(
  record: RouteFacts & {
    readonly decode: (input: RouteInput) => Request | Promise<Request>;
    readonly rpc: (clients: Clients, request: Request, call: Call) => Promise<Response>;
    readonly encode: (response: Response, request: Request, input: EncoderInput) => RouteReply | Promise<RouteReply>;
    /**
     * Approximate bytes that a response holds in memory, where they may be many; its answer is charged separately. Beyond what bodies and answers may hold
     * together it is 503.
     */
    readonly heldBytes?: (response: Response) => number;
  },
): Route {
  const { decode, rpc, encode, heldBytes, ...facts } = record;
  return {
    ...facts,
    handle: async (input, clients, call, { reserveMemory }) => {
      const decoded = decode(input);
      const request = decoded instanceof Promise ? await decoded : decoded;
      const response = await rpc(clients, request, call);
      const bytes = heldBytes?.(response) ?? 0;
      if (bytes > COUNTED_BYTES_MIN) reserveMemory(bytes);
      return encode(response, request, input);
    },
  };
}
