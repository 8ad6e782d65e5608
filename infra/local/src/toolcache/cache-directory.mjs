import { posix } from "node:path";

/**
 * Returns the folder outside the work tree that keeps fetched tools, shared by all clones of one user: `TIDEMARK_CACHE_DIR`;
 * else `$XDG_CACHE_HOME/tidemark` (if absolute: the XDG rule is to ignore others); else `~/Library/Caches/tidemark`
 * on macOS and `~/.cache/tidemark` elsewhere. Pure.
 *
 * @param {{ env: Record<string, string | undefined>, platform: string, home: string, cwd: string }} machine
 * @returns {string} absolute path; the folder need not exist
 */
export const cacheDirectory = ({ env, platform, home, cwd }) => {
  const own = env["TIDEMARK_CACHE_DIR"];
  if (own) return posix.resolve(cwd, own);
  const xdg = env["XDG_CACHE_HOME"];
  if (xdg && posix.isAbsolute(xdg)) return posix.join(xdg, "tidemark");
  return platform === "darwin" ? posix.join(home, "Library/Caches/tidemark") : posix.join(home, ".cache/tidemark");
};
