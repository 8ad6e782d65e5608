export { createTurns, type Turn, type Turns, type Waiting } from "./turns.ts";
