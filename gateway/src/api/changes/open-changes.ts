import { setTimeout as pause } from "node:timers/promises";
import type { Identity } from "@tidemark/proto/common/v1/common";
import { EVENTS_TYPE } from "../../changes/event-text.rules.ts";
import type { Clients } from "../../clients.ts";
import type { Route, HandlerContext } from "../../route.ts";
import { requireMessage } from "../replies.ts";

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
