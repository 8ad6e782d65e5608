// `knip` finds what nothing uses, `knip --production` what only tests use: there only the patterns with a "!" count.
const production = process.argv.includes("--production");
const tests = "{test,property.test,fixture,contract}.ts";

export default {
  // Types are exported with what they describe. In production an export that its own file uses is alive.
  ignoreExportsUsedInFile: production || { interface: true, type: true },
  exclude: production ? ["types", "enumMembers", "devDependencies"] : [],
  workspaces: {
    ".": {
      entry: [
        "scripts/*.{ts,mjs}!",
        "!scripts/*.test.ts!",
        "scripts/jest/*.ts!",
        "!scripts/jest/*.test.ts!",
        "scripts/launch/exit-with-parent.mjs!",
        "scripts/launch/print-pnpm.mjs!",
        "scripts/**/*.test.ts",
      ],
      // The lint loads its rules by its own configuration.
      project: ["scripts/**/*.{ts,mjs}!", "*.mjs!", `!scripts/**/*.${tests}!`, "!scripts/lint/*.ts!"],
      ignoreDependencies: ["oxfmt", "oxlint", "oxlint-tsgolint"],
    },
    proto: {
      project: [],
      ignoreDependencies: ["@bufbuild/buf"],
    },
    "packages/*": {
      entry: ["src/**/*.test.ts"],
      project: ["src/**/*.ts!", `!src/**/*.${tests}!`],
    },
    "infra/*": {
      entry: ["src/**/*.test.ts"],
      project: ["src/**/*.{ts,mjs}!", `!src/**/*.${tests}!`],
    },
    "infra/testkit": {
      entry: ["src/global-{setup,teardown}.ts!", "src/**/*.test.ts"],
      project: ["src/**/*.ts!", `!src/**/*.${tests}!`],
    },
    "services/*": {
      entry: ["{src,test}/**/*.test.ts"],
      project: ["src/**/*.ts!", "test/**/*.ts", `!src/**/*.${tests}!`],
    },
    "services/all": {
      entry: ["src/{main,start,split,migrate,print-config-table,recount-storage}.ts!", "src/**/*.test.ts"],
      project: ["src/**/*.ts!", `!src/**/*.${tests}!`],
    },
    gateway: {
      entry: ["{src,test}/**/*.test.ts"],
      project: ["src/**/*.ts!", "test/**/*.ts", `!src/**/*.${tests}!`],
    },
    web: {
      entry: [
        "src/main.tsx!",
        "src/embed/main.tsx!",
        "src/theme-first.ts!",
        "build/main.ts!",
        "{src,build}/**/*.test.ts",
        "src/**/*.fixture.tsx",
      ],
      project: ["{src,build}/**/*.{ts,tsx}!", `!{src,build}/**/*.${tests}!`, "!src/**/*.fixture.tsx!"],
    },
    cli: {
      entry: ["src/main.ts!", "src/**/*.test.ts"],
      project: ["src/**/*.ts!", `!src/**/*.${tests}!`],
    },
    test: {
      entry: ["**/*.test.ts", "bench/{main,frame/background-process}.ts!", "bench/seed/main.ts!", "pictures/main.ts!"],
      project: ["**/*.ts", "{bench,pictures}/**/*.ts!", `!bench/**/*.${tests}!`],
      // Read as a file, for the pages of a browser.
      ignoreDependencies: ["axe-core"],
    },
    "examples/typescript": {
      entry: ["*.ts!"],
      project: ["**/*.ts!"],
    },
  },
};
