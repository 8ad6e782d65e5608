import type { NotedChange } from "@tidemark/bus";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";

/** The media type of server-sent events. */
export const EVENTS_TYPE = "text/event-stream";

const NAMES: Readonly<Partial<Record<ChangeKind, string>>> = {
  [ChangeKind.RUN]: "run",
  [ChangeKind.POINTS]: "points",
  [ChangeKind.LINES]: "lines",
  [ChangeKind.OBJECTS]: "objects",
  [ChangeKind.STOP]: "stop",
};

/** The events of a stream of changes. */
export const CHANGE_EVENTS: readonly string[] = [...Object.values(NAMES), "reset"];

/** Writes a change as a server-sent event; the empty text for a kind that has none. JSON has no line ends outside its escapes. */
export function eventText({ runId, kind, keys, step, line }: NotedChange, id: string): string {
  const name = NAMES[kind];
  if (name === undefined) return "";
  const data = { run_id: runId, ...(keys !== undefined && keys.length > 0 && { keys }), step, line };
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Writes the event after which the client reads everything again. */
export function resetText(id: string): string {
  return `id: ${id}\nevent: reset\ndata: {}\n\n`;
}

/** Writes a comment, which keeps the connection busy and moves the client's last event id on, without an event. */
export function commentText(id?: string): string {
  return id === undefined ? ": alive\n\n" : `: alive\nid: ${id}\n\n`;
}
