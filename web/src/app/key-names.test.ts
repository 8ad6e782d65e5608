import { expect, test } from "@jest/globals";
import { pressedName, shortcutName } from "./keys.ts";

const press = (
  key: string,
  held: Partial<Record<"ctrlKey" | "metaKey" | "altKey" | "shiftKey", boolean>> = {},
): string => pressedName({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...held });

test("letters have their case from Shift alone", () => {
  expect(press("j")).toBe("j");
  expect(press("X", { shiftKey: true })).toBe("Shift+x");
  expect(press("J")).toBe("j");
});

test("signs are what they are, wherever the keyboard has them", () => {
  expect(press("?", { shiftKey: true })).toBe("?");
  expect(press("[", { altKey: true, ctrlKey: true })).toBe("Ctrl+Alt+[");
});

test("named keys know Shift, and the command key is Ctrl", () => {
  expect(press("ArrowDown", { shiftKey: true })).toBe("Shift+ArrowDown");
  expect(press("k", { metaKey: true })).toBe("Ctrl+k");
  expect(press(" ")).toBe("Space");
});

test("shortcuts may be written with capitals", () => {
  expect(["Ctrl+K", "j", "Shift+X", "?", "+", "Enter"].map(shortcutName)).toEqual([
    "Ctrl+k",
    "j",
    "Shift+x",
    "?",
    "+",
    "Enter",
  ]);
});
