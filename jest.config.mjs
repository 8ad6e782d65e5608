/** Test files run in bare Node, in threads that share modules between files (docs/adr/0055-tests-share-modules.md). */
export default {
  runner: "jest-light-runner",
  setupFiles: ["<rootDir>/scripts/jest/setup.ts"],
  transform: {},
  moduleFileExtensions: ["ts", "mjs", "js", "cjs", "json", "node"],
  testMatch: ["**/*.test.ts", "**/*.test.mjs"],
  testPathIgnorePatterns: ["/node_modules/", "/proto/src/gen/"],
  modulePathIgnorePatterns: ["<rootDir>/\\.tidemark/", "<rootDir>/data/"],
  maxWorkers: 3,
  testSequencer: "<rootDir>/scripts/jest/sequencer.ts",
  reporters: ["default", "<rootDir>/scripts/jest/group-times.ts"],
  globalSetup: "<rootDir>/infra/testkit/src/global-setup.ts",
  globalTeardown: "<rootDir>/infra/testkit/src/global-teardown.ts",
};
