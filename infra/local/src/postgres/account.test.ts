import { expect, test } from "@jest/globals";
import { findAccount, mayUse } from "./account.ts";
import { settingArguments } from "./server-process.ts";

const passwd = [
  "root:x:0:0:root:/root:/bin/bash",
  "admin:x:0:0::/:/bin/sh",
  "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin",
  "postgres:x:101:104::/var/lib/postgresql:/bin/bash",
  "broken",
].join("\n");

test.each([
  ["the first name that is there", ["postgres", "nobody"], { uid: 101, gid: 104 }],
  ["the next name otherwise", ["tidemark", "nobody"], { uid: 65534, gid: 65534 }],
  ["nothing without a match", ["tidemark"], undefined],
  ["never root, under any name", ["admin", "root"], undefined],
  ["nothing from a broken line", ["broken"], undefined],
])("finds %s", (_name, names, expected) => {
  expect(findAccount(passwd, names)).toEqual(expected);
});

const file = { uid: 10, gid: 20, mode: 0o100_754 };
test.each([
  ["its owner may do what the owner may", { uid: 10, gid: 99 }, 0o7, true],
  ["its group may read and enter", { uid: 99, gid: 20 }, 0o5, true],
  ["its group may not write", { uid: 99, gid: 20 }, 0o2, false],
  ["others may read", { uid: 99, gid: 99 }, 0o4, true],
  ["others may not enter", { uid: 99, gid: 99 }, 0o1, false],
])("of a file with mode 754: %s", (_name, account, rights, expected) => {
  expect(mayUse(file, account, rights)).toBe(expected);
});

test("settings become arguments of the server", () => {
  expect(settingArguments({ fsync: true, jit: false, shared_buffers: "256MB", max_connections: 200 })).toEqual(
    "-c fsync=on -c jit=off -c shared_buffers=256MB -c max_connections=200".split(" "),
  );
});

test.each(["-D", "fsync off", "", "a=b"])("%j is not a name of a setting", (name) => {
  expect(() => settingArguments({ [name]: true })).toThrow("is not the name of a setting");
});
