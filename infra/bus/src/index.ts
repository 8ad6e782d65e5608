export type { Bus, BusMessage, BusSubscription, PublishOptions, WorkOptions } from "./bus.ts";
export { createMemoryBus } from "./memory-bus.ts";
export { createNatsBus } from "./create-nats-bus.ts";
export type { NatsBusOptions } from "./nats-bus.ts";
export {
  CHANGES_SUBJECT,
  startChangePublisher,
  CHANGED_KEYS_MAX,
  mergeChange,
  type ChangePublisher,
  type NotedChange,
} from "./change-publisher.ts";
