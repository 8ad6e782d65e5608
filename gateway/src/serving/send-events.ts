import type { FastifyReply } from "fastify";
import type { OpenStream } from "../changes/event-streams.ts";

/** Sends the headers and hands the answer over to its events. They are not compressed: that would cost each stream a hundred times what it holds. */
export function sendEvents(events: OpenStream, reply: FastifyReply): FastifyReply {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>);
  raw.flushHeaders();
  events.start(raw);
  return reply;
}
