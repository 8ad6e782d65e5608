import { describe, expect, test } from "@jest/globals";
import { parseCommandLine } from "./run-local.ts";

const read = (args: string[], environment: Record<string, string> = {}) =>
  parseCommandLine(args, environment, "/home/ada/lab");

describe("the command line", () => {
  test("has a default for everything", () => {
    expect(read([])).toEqual({
      port: 8080,
      dataDirectory: "/home/ada/lab/data",
      fresh: false,
      link: false,
      help: false,
    });
  });

  test("takes from the environment what the arguments leave out", () => {
    const environment = { TIDEMARK_PORT: "9000", TIDEMARK_DATA_DIRECTORY: "/srv/tidemark" };
    expect(read([], environment)).toMatchObject({ port: 9000, dataDirectory: "/srv/tidemark" });
    expect(read(["--port", "1", "--data-dir", "x"], environment)).toMatchObject({
      port: 1,
      dataDirectory: "/home/ada/lab/x",
    });
  });

  test("knows --fresh, --link and --help", () => {
    expect(read(["--fresh", "--link", "--help"])).toMatchObject({ fresh: true, link: true, help: true });
  });

  test.each([
    [["--port", "x"], "--port must be 1 to 65535"],
    [["--port", "65536"], "--port must be 1 to 65535"],
    [["--port", "0"], "--port must be 1 to 65535"],
    [["--port", "-1"], "--port"],
    [["--data-dir", " "], "--data-dir must name a folder"],
    [["--nonsense"], "--nonsense"],
    [["stray"], "stray"],
  ])("%j is refused", (args, fault) => {
    expect(() => read(args)).toThrow(fault);
  });
});
