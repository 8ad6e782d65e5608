import { route, type Route } from "../../route.ts";
import { usageReaders } from "../callers.ts";
import { encodeUsage } from "./usage-document.ts";
import { usageSchema } from "./usage-schema.ts";

const facts = {
  method: "GET",
  tag: "usage",
  callers: usageReaders,
  rate: "general",
  monthQuota: "never_refused",
  idempotency: "none",
  schemas: { response: usageSchema },
  statuses: [200, 401, 403],
  decode: () => ({}),
  encode: encodeUsage,
} as const;

/** What an organization uses of its plan. */
export const usageRoutes: readonly Route[] = [
  route({
    ...facts,
    path: "/api/usage",
    summary: "What the organization uses of its plan",
    description:
      "Metric points, trace events and requests are those of this calendar month in UTC; everything else is what there is, deleted rows included until they are purged. storage_bytes_by_kind splits the stored bytes by kind. A figure is at most five seconds old. The call counts as a request of the month, and is answered even when the month is used up.",
    rpc: (clients, request, call) => clients.usage.getUsage(request, call),
  }),
  route({
    ...facts,
    path: "/api/usage/export",
    summary: "The same document, for exports",
    rpc: (clients, request, call) => clients.usage.getUsage(request, call),
  }),
];
