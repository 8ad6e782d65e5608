export { LATE_MS } from "./caps.rules.ts";
export { createFairShare, NO_TENANT, type Use } from "./fair-share.rules.ts";
export { createPauses, finishInTurns, mapInTurns, nextTurn } from "./pauses.ts";
export { READS } from "./queues.rules.ts";
export { busy, createTurns, type Turn, type Turns, type Waiting } from "./turns.ts";
