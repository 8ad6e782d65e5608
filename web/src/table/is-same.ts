/** Whether two objects of one kind have the same values, each compared by `===`. */
export function isSame<T extends object>(one: T, other: T): boolean {
  const names = Object.keys(one) as (keyof T)[];
  return (
    names.length === Object.keys(other).length && names.every((name) => name in other && one[name] === other[name])
  );
}
