/** Characters of a name that fit next to numbers. */
export const NAME_MAX = 36;

/** Shortens a name in its middle, because names of runs differ at both ends: `bert-base-un…lr3e-5-seed2`. */
export function shortName(name: string, most = NAME_MAX): string {
  const letters = Array.from(name);
  if (letters.length <= most) return name;
  const end = Math.floor((most - 1) / 2);
  return `${letters.slice(0, most - 1 - end).join("")}…${letters.slice(letters.length - end).join("")}`;
}
