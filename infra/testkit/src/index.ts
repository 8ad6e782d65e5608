export { requireChromium } from "./chromium.ts";
export { requirePython, type PythonNeeds } from "./python.ts";
export { untilEarlierWritesEnd } from "./earlier-transactions.ts";
export { createFencedDatabase, type FencedDatabase } from "./fenced-database.ts";
export { createReadCounter, type ReadCounter, type Reads } from "./read-counter.ts";
export { noteMissing, requireServers } from "./require-servers.ts";
export { createTestDatabase, testServerUrl, withPatience, type TestDatabase } from "./test-database.ts";
export { turnsDuring } from "./turns-during.ts";
export { PATIENCE_MS, until } from "./until.ts";
