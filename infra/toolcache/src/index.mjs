// Plain JavaScript, because the launcher runs this on the Node (18 or newer) that it was started with, before there is a
// Node that strips types and before any dependency is installed. So it imports only node: modules.
export { cacheDirectory } from "./cache-directory.mjs";
export { fetchPackage, fetchedVersions, packageVersions } from "./fetch-package.mjs";
export { findExecutable, findNpm } from "./find-programs.mjs";
export { processIdentity, isProcessAlive } from "./process-identity.mjs";
export { tryLock, withLock } from "./lock.mjs";
export { runCaptured } from "./run-captured.mjs";
export { explainFailure, isStartError, startError } from "./start-error.mjs";
