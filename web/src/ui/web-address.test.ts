import { expect, test } from "@jest/globals";
import { webAddress } from "./web-address.ts";

test.each([
  ["https://example.test/a", "https://example.test/a"],
  ["mailto:a@example.test", "mailto:a@example.test"],
  ["javascript:alert(1)", undefined],
  [" JAVASCRIPT:alert(1)", undefined],
  ["data:text/html,x", undefined],
  ["https://user:secret@example.test/", undefined],
  ["just text", undefined],
])("%s leads to %s", (text, address) => expect(webAddress(text)).toBe(address));
