export { noteMissing, requireServers } from "./require-servers.ts";
export { createTestDatabase, testServerUrl, type TestDatabase } from "./test-database.ts";
