export { judge, LATE_MS, type Load } from "./caps.rules.ts";
export { createPauses, mapInTurns } from "./pauses.ts";
export { createTurns, type Turn, type Turns, type Waiting } from "./turns.ts";
