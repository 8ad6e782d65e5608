export { requirePython, type PythonNeeds } from "./python.ts";
export { noteMissing, requireServers } from "./require-servers.ts";
export { createTestDatabase, testServerUrl, type TestDatabase } from "./test-database.ts";
