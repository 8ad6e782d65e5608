import type { CredentialCallers } from "../../auth/callers.ts";
import type { Clients } from "../../clients.ts";
import type { HandlerContext, Route, RouteInput, RouteReply } from "../../route.ts";
import type { Call } from "@tidemark/rpc";
import { mlflow } from "./dialect.ts";

const keysWith = (scope: "export:read" | "sdk:ingest" | "runs:control"): CredentialCallers => ({
  kind: "credentials",
  key: { scopes: [scope] },
  session: { refused: 403 },
});

/** What a route does to the data of the caller, which decides who may call it and how it is limited. */
const uses = {
  /** Any key. */
  probe: { callers: { kind: "credentials", key: { scopes: [] }, session: { refused: 403 } }, rate: "general" },
  read: { callers: keysWith("export:read"), rate: "general" },
  write: { callers: keysWith("sdk:ingest"), rate: "ingest" },
  /** Deletes or restores. */
  control: { callers: keysWith("runs:control"), rate: "general" },
} as const satisfies Record<string, Pick<Route, "callers" | "rate">>;

/** Most bytes of a body: 100 parameters and 100 tags of the greatest length, in which each letter is escaped, are 8.4 MB. */
const BATCH_BYTES_MAX = 16 * 1024 * 1024;
const BODY_BYTES_MAX = 4 * 1024 * 1024;

/** What is particular to a route of MLflow. */
export type MlflowRoute = {
  readonly method: Route["method"];
  /** As in routes of the product: `/api/2.0/mlflow/runs/get`. */
  readonly path: string;
  readonly use: keyof typeof uses;
  /** Takes a body of 16 MiB instead of 4. */
  readonly isBatch?: boolean;
  /** As in routes of the product. */
  readonly streamed?: Route["streamed"];
  /** Most bytes of a body that is streamed. */
  readonly bodyBytesMax?: number;
  /** The fields of the message are in `input.body`: from the query of a GET that has one, otherwise from the body. */
  readonly handle: (input: RouteInput, clients: Clients, call: Call, transfer: HandlerContext) => Promise<RouteReply>;
};

/** Declares a route of MLflow. Its answer is always 200 with a JSON object. */
export function mlflowRoute({ use, isBatch = false, streamed, bodyBytesMax, ...facts }: MlflowRoute): Route {
  return {
    ...facts,
    ...uses[use],
    ...(streamed === undefined
      ? { body: "optional", bodyBytesMax: isBatch ? BATCH_BYTES_MAX : BODY_BYTES_MAX }
      : { streamed, ...(bodyBytesMax === undefined ? {} : { bodyBytesMax }) }),
    // Values of metrics. Fields of other types refuse what such a token is read as.
    bareTokens: true,
    dialect: mlflow,
    tag: mlflow.name,
    summary: `${facts.method} ${facts.path}`,
    idempotency: "none",
    schemas: { response: { type: "object" } },
    statuses: [200],
  };
}
