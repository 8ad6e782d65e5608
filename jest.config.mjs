/** Native ES modules; run as `node --experimental-vm-modules node_modules/jest/bin/jest.js`. */
export default {
  testEnvironment: "<rootDir>/test/stack/jest-environment.ts",
  extensionsToTreatAsEsm: [".ts"],
  transform: { "\\.ts$": "<rootDir>/scripts/jest/strip-types.ts" },
  moduleFileExtensions: ["ts", "mjs", "js", "cjs", "json", "node"],
  testMatch: ["**/*.test.ts", "**/*.test.mjs"],
  testPathIgnorePatterns: ["/node_modules/", "/proto/src/gen/"],
  modulePathIgnorePatterns: ["<rootDir>/\\.tidemark/", "<rootDir>/data/"],
  // Ends a test that hangs. It has nothing to do with speed: a busy machine may take ten times as long.
  testTimeout: 600_000,
  maxWorkers: 2,
  // Module registries of ES modules have leaked (jest#14605); a worker above this is replaced between two test files.
  workerIdleMemoryLimit: "512MB",
  globalSetup: "<rootDir>/infra/testkit/src/global-setup.ts",
  globalTeardown: "<rootDir>/infra/testkit/src/global-teardown.ts",
};
