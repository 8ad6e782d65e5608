import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Names one process so that another process, perhaps after a reboot or in another container, can tell whether it still runs:
 * systems reuse process ids.
 *
 * @typedef {object} ProcessIdentity
 * @property {number} pid
 * @property {string} started when it was started, in the units of the operating system; only compared for equality
 * @property {string} host the machine's name
 * @property {string} boot changes with every boot; empty where the system does not say
 * @property {string} pidSpace the space that `pid` belongs to (containers have their own); empty where there is only one
 */

/** @param {() => string} read */
const orEmpty = (read) => {
  try {
    return read();
  } catch {
    return "";
  }
};

/**
 * @param {number} pid
 * @returns {string} empty when there is no such process
 */
const startedAt = (pid) =>
  orEmpty(() => {
    if (process.platform !== "linux") {
      return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8", stdio: "pipe" }).trim();
    }
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A zombie has ended; its parent has not collected it yet.
    return fields[0] === "Z" ? "" : (fields[19] ?? "");
  });

/**
 * Returns the identity of this process, or of another one on this machine.
 *
 * @param {number} [pid]
 * @returns {ProcessIdentity}
 */
export const processIdentity = (pid = process.pid) => ({
  pid,
  started: startedAt(pid),
  host: hostname(),
  boot: orEmpty(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
  pidSpace: orEmpty(() => readlinkSync("/proc/self/ns/pid")),
});

/**
 * Whether a process still runs; "unknown" when it belongs to another machine or container, whose processes are not visible
 * here.
 *
 * @param {ProcessIdentity} identity
 * @returns {boolean | "unknown"}
 */
export const isProcessAlive = (identity) => {
  const here = processIdentity(identity.pid);
  if (identity.host !== here.host) return "unknown";
  if (identity.boot !== here.boot) return false;
  if (identity.pidSpace !== here.pidSpace) return "unknown";
  return here.started !== "" && here.started === identity.started;
};
