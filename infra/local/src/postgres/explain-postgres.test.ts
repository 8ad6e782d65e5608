import { expect, test } from "@jest/globals";
import { explainPostgres } from "./server-process.ts";

test.each([
  [
    "a disk that fills while the database is made",
    [
      'running bootstrap script ... FATAL:  could not extend file "base/1/1247": No space left on device',
      "HINT:  Check free disk space.",
      "child process exited with exit code 1",
    ],
    "the disk with /data is full",
  ],
  [
    "a disk that is full at the start",
    ['FATAL:  could not write lock file "postmaster.pid": No space left on device'],
    "the disk with /data is full",
  ],
  [
    "a server of another user on the same data",
    [
      'FATAL:  lock file "postmaster.pid" already exists',
      'HINT:  Is another postmaster (PID 4711) running in data directory "/data"?',
    ],
    "another PostgreSQL (process 4711) is using /data",
  ],
  [
    "a setting that this server does not know",
    ['FATAL:  unrecognized configuration parameter "jitter"'],
    'PostgreSQL did not start: unrecognized configuration parameter "jitter"',
  ],
  [
    "initdb's own complaint",
    [
      'The files belonging to this database system will be owned by user "postgres".',
      "initdb: error: invalid locale name",
    ],
    "PostgreSQL did not start: invalid locale name",
  ],
  ["silence", [], "PostgreSQL did not start: it said nothing"],
])("%s", (_name, lines, expected) => {
  expect(explainPostgres(lines, "/data")).toEqual({ portInUse: false, text: expected });
});

test("a port in use is reported separately, because another one may be tried", () => {
  const lines = [
    'LOG:  could not bind IPv4 address "127.0.0.1": Address already in use',
    "FATAL:  could not create any TCP/IP sockets",
  ];
  expect(explainPostgres(lines, "/data").portInUse).toBe(true);
});
