/** The place of an object among the objects of its kind in a run: by step, -Infinity for none, then by age, then by id. */
export type ObjectPlace = { readonly step: number; readonly createdAt: string; readonly id: number };

/** Before all objects. */
export const FIRST_PLACE: ObjectPlace = { step: Number.NEGATIVE_INFINITY, createdAt: "-infinity", id: 0 };
