/** From here on, and below the other, numbers are written with a power of ten. */
const POWER_MIN = 1e13;
const POWER_BELOW = 1e-3;

/** Writes a number with five digits that count. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  const size = Math.abs(value);
  if (size >= POWER_MIN || (size > 0 && size < POWER_BELOW)) return value.toExponential(4).replace(/\.?0*e\+?/, "e");
  return String(
    Number.isInteger(value) ? value : Number(value.toPrecision(Math.max(5, String(Math.trunc(size)).length))),
  );
}

/** Writes a length of time in at most two units: `45 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`. */
export function shortDuration(seconds: number): string {
  const size = Math.abs(seconds);
  const sign = seconds < 0 ? "-" : "";
  if (size < 60) return `${sign}${shortNumber(Number(size.toPrecision(3)))} s`;
  const units = [
    { name: "d", size: 86_400 },
    { name: "h", size: 3600 },
    { name: "min", size: 60 },
    { name: "s", size: 1 },
  ];
  const first = units.findIndex((unit) => size >= unit.size);
  const [large, small] = [units[first]!, units[first + 1]!];
  const whole = Math.floor(size / large.size);
  const smallCount = Math.floor((size - whole * large.size) / small.size);
  return `${sign}${whole} ${large.name}${smallCount === 0 ? "" : ` ${smallCount} ${small.name}`}`;
}

/** Writes how many there are of something. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}
