import { expect, test } from "@jest/globals";
import { clientNetwork } from "./embed-limits.ts";

test.each([
  ["127.0.0.1", "127.0.0.1"],
  ["::ffff:10.0.0.7", "10.0.0.7"],
  ["::1", "0:0:0:0::/64"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:DB8:0001:2::9", "2001:db8:1:2::/64"],
  ["2001:db8::9", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
  ["1:2:3::", "1:2:3:0::/64"],
])("%s counts as %s", (address, expected) => expect(clientNetwork(address)).toBe(expected));
