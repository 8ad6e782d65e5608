export type { Bus, BusMessage, BusSubscription, PublishOptions, WorkOptions } from "./bus.ts";
export { createMemoryBus } from "./memory-bus.ts";
export { createNatsBus } from "./create-nats-bus.ts";
export type { NatsBusOptions } from "./nats-bus.ts";
