import type { Bus } from "./bus.ts";
import type { NatsBusOptions } from "./nats-bus.ts";

/**
 * Creates a bus over NATS JetStream. Resolves when it is connected, and after 2 seconds even if it is not: it then
 * keeps trying in the background, as it does after every lost connection. It creates the stream and the durable
 * consumers if they are missing, so a server that lost its state needs no repair.
 */
export async function createNatsBus(options: NatsBusOptions): Promise<Bus> {
  // Imported here, because an installation of one process does not need to load it.
  const { openNatsBus } = await import("./nats-bus.ts");
  return openNatsBus(options);
}
