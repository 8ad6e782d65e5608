import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ConfigError, bool, configNames, defineConfig, int, list, parseConfig, secret, text, url } from "./index.ts";
import { nearestName } from "./parse-config.ts";

const shared = {
  databaseUrl: secret({ env: "TIDEMARK_DATABASE_URL", help: "PostgreSQL.", schemes: ["postgres"] }),
};
const groups = {
  gateway: defineConfig({
    ...shared,
    port: int({ env: "TIDEMARK_PORT", help: "Port.", default: 8080, min: 0, max: 65_535 }),
    level: text({
      env: "TIDEMARK_LOG_LEVEL",
      help: "Level.",
      oneOf: ["info", "warn"],
      default: "info",
    }),
    origins: list({
      env: "TIDEMARK_ALLOWED_ORIGINS",
      help: "Origins.",
      default: [],
      itemPattern: /^https?:\/\//,
    }),
    limits: bool({ env: "TIDEMARK_LIMITS", help: "Limits.", default: true }),
  }),
  artifacts: defineConfig({
    ...shared,
    endpoint: url({ env: "TIDEMARK_S3_URL", help: "Object store.", optional: true }),
    bucket: text({
      env: "TIDEMARK_S3_BUCKET",
      help: "Bucket.",
      pattern: /^[a-z-]+$/,
      default: "tidemark",
    }),
  }),
};
const enough = { TIDEMARK_DATABASE_URL: "postgres://u:hunter2@db/tidemark" };

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-config-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("values", () => {
  test("defaults fill in what is not set, and one variable serves two groups", () => {
    expect(parseConfig(groups, enough)).toEqual({
      gateway: {
        databaseUrl: enough.TIDEMARK_DATABASE_URL,
        port: 8080,
        level: "info",
        origins: [],
        limits: true,
      },
      artifacts: {
        databaseUrl: enough.TIDEMARK_DATABASE_URL,
        endpoint: undefined,
        bucket: "tidemark",
      },
    });
  });

  test("the types of the values follow the fields", () => {
    const { gateway, artifacts } = parseConfig(groups, enough);
    const port: number = gateway.port;
    const level: "info" | "warn" = gateway.level;
    const endpoint: string | undefined = artifacts.endpoint;
    // @ts-expect-error an optional setting may be missing
    const certain: string = artifacts.endpoint;
    expect([port, level, endpoint, certain]).toEqual([8080, "info", undefined, undefined]);
  });

  test.each([
    ["an int", "TIDEMARK_PORT", "0", { port: 0 }],
    ["a bool by word, in any case", "TIDEMARK_LIMITS", "Off", { limits: false }],
    ["a bool by digit", "TIDEMARK_LIMITS", "1", { limits: true }],
    [
      "a list, with spaces and a trailing comma",
      "TIDEMARK_ALLOWED_ORIGINS",
      "http://a, https://b,",
      { origins: ["http://a", "https://b"] },
    ],
    ["one of several texts", "TIDEMARK_LOG_LEVEL", "warn", { level: "warn" }],
    ["a blank variable as not set", "TIDEMARK_PORT", "  ", { port: 8080 }],
  ])("%s", (_, name, value, expected) => {
    expect(parseConfig(groups, { ...enough, [name]: value }).gateway).toMatchObject(expected);
  });

  test("a secret is read from the file that its _FILE variable names, without the last line break", () => {
    const file = join(folder, "database-url");
    writeFileSync(file, "postgres://file/db\r\n");
    expect(parseConfig(groups, { TIDEMARK_DATABASE_URL_FILE: file }).artifacts.databaseUrl).toBe("postgres://file/db");
  });

  test("names of other programs and names that another process reads are left alone", () => {
    const env = { ...enough, PATH: "/bin", TIDE: "high", TIDEMARK_CACHE_DIR: "/tmp" };
    expect(() => parseConfig(groups, env, { alsoKnown: ["TIDEMARK_CACHE_DIR"] })).not.toThrow();
  });

  test("configNames lists each variable once, and the _FILE names of secrets", () => {
    expect(configNames({ artifacts: groups.artifacts, again: groups.artifacts })).toEqual([
      "TIDEMARK_DATABASE_URL",
      "TIDEMARK_DATABASE_URL_FILE",
      "TIDEMARK_S3_URL",
      "TIDEMARK_S3_BUCKET",
    ]);
  });
});

describe("faults", () => {
  const faultsOf = (env: Record<string, string>): readonly string[] => {
    try {
      parseConfig(groups, env);
    } catch (error) {
      if (error instanceof ConfigError) return error.faults;
      throw error;
    }
    return [];
  };

  test("all are reported together, of every group", () => {
    const env = { TIDEMARK_PORT: "65536", TIDEMARK_S3_URL: "nonsense", TIDEMARK_PROT: "1" };
    expect(faultsOf(env)).toEqual([
      "TIDEMARK_DATABASE_URL is not set: PostgreSQL.",
      'TIDEMARK_PORT must be a whole number from 0 to 65535, not "65536"',
      "TIDEMARK_S3_URL must be a URL that starts with http:// or https://",
      "TIDEMARK_PROT is not known; did you mean TIDEMARK_PORT?",
    ]);
    expect(() => parseConfig(groups, env)).toThrow(/has 4 faults:\n {2}TIDEMARK_DATABASE_URL/);
  });

  test.each([
    ["an int with a fraction", { TIDEMARK_PORT: "1.5" }, /whole number/],
    ["an int in hexadecimal", { TIDEMARK_PORT: "0x10" }, /whole number/],
    ["an int with an exponent", { TIDEMARK_PORT: "1e3" }, /whole number/],
    ["an int below its bounds", { TIDEMARK_PORT: "-1" }, /from 0 to 65535/],
    ["a bool that is neither", { TIDEMARK_LIMITS: "maybe" }, /must be 1 or 0, not "maybe"/],
    ["a text that is none of the accepted", { TIDEMARK_LOG_LEVEL: "loud" }, /one of info, warn/],
    ["a text that does not match", { TIDEMARK_S3_BUCKET: "A b" }, /must match \^\[a-z-]\+\$/],
    ["a list with an odd item", { TIDEMARK_ALLOWED_ORIGINS: "http://a,b" }, /: "b"$/],
    ["a URL of another scheme", { TIDEMARK_S3_URL: "ftp://x" }, /http:\/\/ or https:\/\//],
    ["an unknown name near nothing", { TIDEMARK_XYZZY_PLUGH_QUUX: "1" }, /is not known$/],
    ["a _FILE of something that is not secret", { TIDEMARK_PORT_FILE: "/x" }, /only secrets come from files/],
    ["a secret given twice", { TIDEMARK_DATABASE_URL_FILE: "/x" }, /are both set/],
  ])("%s", (_, env, expected) => {
    const faults = faultsOf({ ...enough, ...env });
    expect(faults).toEqual([expect.stringMatching(expected)]);
  });

  test("a secret file that is not there is named by its variable and code, not by its content", () => {
    expect(faultsOf({ TIDEMARK_DATABASE_URL_FILE: join(folder, "missing") })).toEqual([
      "TIDEMARK_DATABASE_URL cannot be read from the file of TIDEMARK_DATABASE_URL_FILE (ENOENT)",
    ]);
  });

  test("a bad secret is not repeated", () => {
    expect(faultsOf({ TIDEMARK_DATABASE_URL: "mysql://root:hunter2@db" }).join()).not.toContain("hunter2");
  });

  test("a long wrong value is cut", () => {
    expect(faultsOf({ ...enough, TIDEMARK_PORT: "9".repeat(500) })[0]?.length).toBeLessThan(120);
  });
});

describe("mistakes of the author", () => {
  test("one variable described in two ways is refused", () => {
    const port = (max: number) =>
      defineConfig({ port: int({ env: "TIDEMARK_PORT", help: "", default: 1, min: 0, max }) });
    expect(() => parseConfig({ a: port(10), b: port(20) }, {})).toThrow("two different ways");
  });

  test("one variable twice in a group is refused", () => {
    const a = bool({ env: "TIDEMARK_A", help: "", default: true });
    expect(() => defineConfig({ a, again: a })).toThrow("named twice");
  });

  test("a default outside its bounds is refused", () => {
    expect(() => defineConfig({ a: int({ env: "TIDEMARK_A", help: "", default: 11, min: 0, max: 10 }) })).toThrow(
      "the default of TIDEMARK_A must be a whole number",
    );
  });

  test("a name that no shell would export is refused", () => {
    expect(() => text({ env: "tidemark-a", help: "" })).toThrow("no name of a variable");
  });
});

const known = ["TIDEMARK_PORT", "TIDEMARK_DATA_DIR", "TIDEMARK_NATS_URL"];

test.each([
  ["a letter left out", "TIDEMARK_PRT", "TIDEMARK_PORT"],
  ["neighbors swapped", "TIDEMARK_PROT", "TIDEMARK_PORT"],
  ["a letter too many", "TIDEMARK_DATAA_DIR", "TIDEMARK_DATA_DIR"],
  ["another word order is too far", "TIDEMARK_DIRECTORY_OF_DATA", undefined],
  ["nothing alike", "XYZ", undefined],
])("%s", (_, mistyped, expected) => {
  expect(nearestName(mistyped, known)).toBe(expected);
});
