export type { Bus, BusMessage, BusSubscription, PublishOptions, WorkOptions } from "./bus.ts";
export { createMemoryBus } from "./memory-bus.ts";
export { createNatsBus } from "./create-nats-bus.ts";
export type { NatsBusOptions } from "./nats-bus.ts";
export {
  CHANGES_SUBJECT,
  startChangePublisher,
  type ChangePublisher,
  CHANGED_KEYS_MAX,
  mergeChange,
  type NotedChange,
} from "./change-publisher.ts";
