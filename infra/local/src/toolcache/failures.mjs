/**
 * Makes an error whose message is one line for the person at the terminal: what is wrong, and what to do. A program that
 * starts Tidemark prints exactly this line and exits with 1; any other error is a defect and keeps its stack.
 *
 * @param {string} message one line, without the name of the program
 * @param {unknown} [cause]
 * @returns {Error}
 */
export const startError = (message, cause) => {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  error.name = "StartError";
  return error;
};

/**
 * Whether an error is one of {@link startError}. Decided by name, so that it works across realms and copies of this package.
 *
 * @param {unknown} error
 * @returns {error is Error}
 */
export const isStartError = (error) =>
  typeof error === "object" && error !== null && "name" in error && error.name === "StartError";

// In this order: a full disk often causes other errors, and npm names a network fault after a line about permissions.
/** @type {ReadonlyArray<readonly [RegExp, string]>} */
const causes = [
  [/\bENOSPC\b|no space left on device/i, "the disk is full"],
  [/\bEDQUOT\b|disk quota exceeded/i, "the disk quota is used up"],
  [/\bEROFS\b|read-only file system/i, "the file system is read-only"],
  [/\bE404\b|\bETARGET\b|no matching version|404 Not Found/i, "the package registry does not have it"],
  [/\bEBADPLATFORM\b/, "it is not made for this operating system, processor or C library"],
  [
    /\bEINTEGRITY\b|integrity check|checksum mismatch|do not match the hashes/i,
    "what arrived is not what was expected (checksum)",
  ],
  [
    /\bENOTFOUND\b|\bEAI_AGAIN\b|no such host|dns error|name resolution|name or service not known|nodename nor servname/i,
    "the package registry's name was not found (no network?)",
  ],
  [
    /\bECONNREFUSED\b|\bECONNRESET\b|\bETIMEDOUT\b|\bENETUNREACH\b|\bEHOSTUNREACH\b|\bERR_SOCKET_TIMEOUT\b|\bEIDLETIMEOUT\b|connection refused|i\/o timeout|error sending request/i,
    "the package registry could not be reached (no network, or a proxy is needed)",
  ],
  [/\bENOTDIR\b/, "a file is where a folder should be"],
  [/\bE401\b|\bE403\b|403 Forbidden|401 Unauthorized/i, "the package registry refused the request"],
  [/\bUNABLE_TO_\w*CERT\w*|\bSELF_SIGNED_CERT\w*|\bCERT_\w+/i, "the package registry's certificate is not trusted"],
  [/\bEACCES\b|\bEPERM\b|permission denied|operation not permitted/i, "permission is denied"],
];

/**
 * Returns the cause of a failed download or write in a few plain words, or undefined when the text holds nothing known. Pure.
 *
 * @param {string} text what the failed program printed, or an error's code and message
 * @returns {string | undefined}
 */
export const explainFailure = (text) => {
  // pnpm breaks its messages into lines in the middle of a phrase.
  const line = text.replace(/\s+/g, " ");
  return causes.find(([pattern]) => pattern.test(line))?.[1];
};
