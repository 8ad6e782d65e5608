// Plain JavaScript on purpose: the launcher runs this with any Node from 18 on, before it has one that strips types and
// before dependencies are installed. So it imports only node: modules.
export { cacheDirectory } from "./cache-directory.mjs";
export { fetchPackage, fetchedVersions, packageVersions } from "./fetch-package.mjs";
export { findExecutable, runCaptured } from "./programs.mjs";
export { tryLock, withLock } from "./lock.mjs";
export { explainFailure, isStartError, startError } from "./failures.mjs";
