import type { Log } from "@tidemark/telemetry";
import type { Bus } from "./bus.ts";

export type NatsBusOptions = {
  /** `nats://host:port`, several with commas between them. */
  readonly url: string;
  /** Name of the JetStream stream; `TIDEMARK` when left out. */
  readonly stream?: string;
  readonly log: Log;
  readonly token?: string;
};

/**
 * Makes a bus over NATS JetStream. Resolves when it is connected, and after 2 seconds also when it is not: it then
 * goes on trying in the background, for ever, and after every loss. The stream and the durable consumers are made
 * when they are missing, so a server that lost everything is a server like any other.
 */
export async function createNatsBus(options: NatsBusOptions): Promise<Bus> {
  // Here and not at the top, because an installation of one process need not load it.
  const { openNatsBus } = await import("./nats-bus.ts");
  return openNatsBus(options);
}
