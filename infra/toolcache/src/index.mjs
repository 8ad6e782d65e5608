// Plain JavaScript on purpose: the launcher runs this on whatever Node (18 or newer) it was started with, before there is
// a Node that strips types and before any dependency is installed. It therefore imports nothing but node: modules.
export { cacheDirectory } from "./cache-directory.mjs";
export { explainFailure } from "./explain-failure.mjs";
export { fetchPackage, fetchedVersions, packageVersions } from "./fetch-package.mjs";
export { findExecutable } from "./find-executable.mjs";
export { tryLock, withLock } from "./lock.mjs";
export { runCaptured } from "./run-captured.mjs";
export { isStartError, startError } from "./start-error.mjs";
