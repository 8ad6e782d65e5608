import { headers as natsHeaders, type MsgHdrs } from "@nats-io/nats-core";
import type { BusMessage } from "./bus.ts";

const idHeader = "Nats-Msg-Id";

/** Reads a message of the server, whichever way it came. The server's own headers are left out. */
export function fromNats(
  message: { readonly subject: string; readonly data: Uint8Array; readonly headers?: MsgHdrs | undefined },
  attempt: number,
): BusMessage {
  const headers: Record<string, string> = {};
  for (const name of message.headers?.keys() ?? [])
    if (!/^nats-/i.test(name)) headers[name] = message.headers?.get(name) ?? "";
  return { subject: message.subject, id: message.headers?.get(idHeader) ?? "", data: message.data, headers, attempt };
}

/** The headers of an outgoing message. A new object each time, as publishing adds to it. */
export function toNatsHeaders(headers: Readonly<Record<string, string>>): MsgHdrs {
  const result = natsHeaders();
  for (const [name, value] of Object.entries(headers)) result.set(name, value);
  return result;
}
