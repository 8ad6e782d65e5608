/** Bytes that one row of each kind counts for in the quota of storage: an estimate, the same for every organization (contract of the usage document). */
export const ROW_BYTES = {
  projects: 512,
  runs: 1024,
  series: 256,
  artifacts: 512,
  keys: 512,
  seats: 256,
} as const;
