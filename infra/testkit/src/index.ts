export { addNotes, noteOnFailure } from "./failure-notes.ts";
export { finish, turnsDuring } from "./turns.ts";
export { requireChromium } from "./chromium.ts";
export { depthVariable, isDeep, postgresMajor, rounds } from "./depth.ts";
export { requirePython, type PythonNeeds } from "./python.ts";
export {
  untilEarlierWritesEnd,
  createFencedDatabase,
  createTestDatabase,
  testServerUrl,
  withPatience,
  testSql,
  makePostgresFolder,
  type FencedDatabase,
  type TestDatabase,
} from "./test-database.ts";
export { createReadCounter, type ReadCounter, type Reads } from "./read-counter.ts";
export { heldBufferBytes, watchBuffers } from "./held-buffers.ts";
export { limitedGate } from "./limited-gate.ts";
export { noteMissing, requireServers } from "./require-servers.ts";
export { PATIENCE_MS, until } from "./until.ts";
