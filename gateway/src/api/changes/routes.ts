import { setTimeout as pause } from "node:timers/promises";
import type { Identity } from "@tidemark/proto/common/v1/common";
import { CHANGE_EVENTS, EVENTS_TYPE } from "../../changes/event-text.rules.ts";
import type { Clients } from "../../clients.ts";
import type { HandlerContext, Route, Schema } from "../../route.ts";
import { requireMessage } from "../replies.ts";
import { readCallers } from "../callers.ts";

/** Milliseconds after which every change stored before a stream begins has been announced; the stream begins after those changes. */
const SETTLE_MS = 100;

const headers = {
  "content-type": EVENTS_TYPE,
  "cache-control": "no-store",
  // For proxies that would hold answers back until there is more of them.
  "x-accel-buffering": "no",
};

/**
 * Opens a stream of the changes of a project that the caller may see; HEAD gets its headers.
 * @throws not_found, rate_limit_exceeded, service_unavailable
 */
export const openChanges: Route["handle"] = async ({ params, identity }, clients, _, context) => {
  const { request, newCall, openStream } = context;
  const projectId = await findProject(clients, identity!, params["project_id"] ?? "", newCall);
  if (request.method === "HEAD") return { body: null, bytes: Buffer.alloc(0), headers };
  const { "last-event-id": sent = "" } = request.headers;
  const lastEventId = sent === "" ? undefined : String(sent);
  if (lastEventId === undefined) await pause(SETTLE_MS);
  return { body: null, headers, events: openStream({ identity: identity!, projectId, lastEventId }) };
};

const asked = new WeakMap<Clients, Map<string, Promise<string>>>();

/**
 * Returns the id of a project. Callers who may see the same share a look-up in progress: when a gateway stops, all of its streams reconnect to
 * another one within a moment. @throws not_found, warehouse_unavailable
 */
function findProject(
  clients: Clients,
  identity: Identity,
  id: string,
  newCall: HandlerContext["newCall"],
): Promise<string> {
  const all = asked.get(clients) ?? new Map<string, Promise<string>>();
  asked.set(clients, all);
  const key = `${identity.orgId}/${identity.projectId}/${id}`;
  const before = all.get(key);
  if (before !== undefined) return before;
  const answer = newCall()
    .then((call) => clients.runs.getProject({ projectId: id }, call))
    .then(({ project }) => requireMessage(project).id)
    .finally(() => all.delete(key));
  all.set(key, answer);
  return answer;
}

const eventsSchema: Schema = {
  type: "string",
  description:
    `Server-sent events: ${CHANGE_EVENTS.map((name) => `\`${name}\``).join(", ")}. Their data are {run_id, keys?, step?, line?}; those of \`reset\` are {}. ` +
    "Comments in between move the last event id on.",
};

/** Changes of a project. */
export const changesRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/projects/{project_id}/changes",
    tag: "projects",
    summary: "Follow the changes of a project",
    description:
      "An event for each run and kind of change, at most one in 200 ms. `keys`, `step` and `line` are the metric or object keys, the highest step and the " +
      "highest line number that were written; keys are left out where they are more than 100, and stand for any then. With `Last-Event-ID` the stream goes on behind that " +
      "event, on any gateway; without it, now. After `reset` the client reads everything again, because events may be missing. An event may arrive more than once. " +
      "A comment comes every 15 seconds. The stream ends when the credentials do, with the project, when the client does not read, and when the server stops. At most 100 streams of a caller.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { response: eventsSchema, responseType: EVENTS_TYPE },
    requestHeaders: {
      "Last-Event-ID": "The id of the last event that the client got. After an unknown or old one comes `reset`.",
    },
    statuses: [200, 401, 403, 404, 429],
    handle: openChanges,
  },
];
