export { CHANGES_SUBJECT, startChangePublisher, type ChangePublisher } from "./change-publisher.ts";
export { CHANGED_KEYS_MAX, mergeChange, type NotedChange } from "./merge-changes.ts";
