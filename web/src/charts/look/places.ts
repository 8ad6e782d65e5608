/** What decides which look each visible line has. */
export type PlacesInput = {
  /** In their order. */
  readonly visible: readonly string[];
  /** The places until now. */
  readonly before: ReadonlyMap<string, number>;
  /** The last places of lines that were visible once. */
  readonly remembered: ReadonlyMap<string, number>;
  /** Places that people chose. */
  readonly chosen: ReadonlyMap<string, number>;
};

/**
 * Gives each visible line a place in the list of looks, no two the same: the one that a person chose (two of these may be the same), else the one that it
 * has, else the one that it had last, else the first that is free. So lines keep their looks while they stay visible, whatever their order is.
 */
export function placesOf({ visible, before, remembered, chosen }: PlacesInput): Map<string, number> {
  const places = new Map<string, number>();
  for (const id of visible) {
    const place = chosen.get(id);
    if (place !== undefined) places.set(id, place);
  }
  const taken = new Set(places.values());
  const give = (id: string, place: number | undefined): void => {
    if (place === undefined || places.has(id) || taken.has(place)) return;
    places.set(id, place);
    taken.add(place);
  };
  for (const known of [before, remembered]) for (const id of visible) give(id, known.get(id));
  let free = 0;
  for (const id of visible) {
    while (taken.has(free)) free += 1;
    give(id, free);
  }
  return places;
}
