import { expect, test } from "@jest/globals";
import { cacheDirectory } from "./cache-directory.mjs";

const linux = { platform: "linux", home: "/home/ada", cwd: "/clone" };

test.each([
  ["the plain default on Linux", { ...linux, env: {} }, "/home/ada/.cache/tidemark"],
  ["the plain default on macOS", { ...linux, platform: "darwin", env: {} }, "/home/ada/Library/Caches/tidemark"],
  ["XDG_CACHE_HOME moves it", { ...linux, env: { XDG_CACHE_HOME: "/fast" } }, "/fast/tidemark"],
  [
    "XDG_CACHE_HOME counts on macOS too",
    { ...linux, platform: "darwin", env: { XDG_CACHE_HOME: "/fast" } },
    "/fast/tidemark",
  ],
  ["a relative XDG_CACHE_HOME is ignored", { ...linux, env: { XDG_CACHE_HOME: "fast" } }, "/home/ada/.cache/tidemark"],
  ["an empty variable counts as not set", { ...linux, env: { TIDEMARK_CACHE_DIR: "" } }, "/home/ada/.cache/tidemark"],
  [
    "TIDEMARK_CACHE_DIR is the folder itself and has priority over XDG_CACHE_HOME",
    { ...linux, env: { TIDEMARK_CACHE_DIR: "/big/tm", XDG_CACHE_HOME: "/fast" } },
    "/big/tm",
  ],
  [
    "a relative TIDEMARK_CACHE_DIR starts at the current folder",
    { ...linux, env: { TIDEMARK_CACHE_DIR: "c" } },
    "/clone/c",
  ],
])("%s", (_name, machine, expected) => {
  expect(cacheDirectory(machine)).toBe(expected);
});
