import { CHANGE_EVENTS, EVENTS_TYPE } from "../../changes/event-text.rules.ts";
import type { Route, Schema } from "../../route.ts";
import { readCallers } from "../callers.ts";
import { openChanges } from "./open-changes.ts";

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
