/** Decides which cards read and draw. */
export type VisibleCards = { readonly watch: (element: Element, notify: (inView: boolean) => void) => () => void };

/** Cards that are slightly out of view are ready when they scroll in. */
const NEAR = "240px 0px";

/** Chooses the cards in or near view, at most `most` of them, the first to enter. */
export function createVisibleCards(most: number): VisibleCards {
  const cards = new Map<Element, { readonly notify: (inView: boolean) => void; wasInView: boolean }>();
  const near = new Set<Element>();
  const decide = (): void => {
    const chosen = new Set([...near].slice(0, most));
    for (const [element, card] of cards) {
      const next = chosen.has(element);
      if (card.wasInView === next) continue;
      card.wasInView = next;
      card.notify(next);
    }
  };
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) near.add(target);
        else near.delete(target);
      }
      decide();
    },
    { rootMargin: NEAR },
  );
  return {
    watch: (element, notify) => {
      cards.set(element, { notify, wasInView: false });
      observer.observe(element);
      return () => {
        observer.unobserve(element);
        cards.delete(element);
        near.delete(element);
        decide();
      };
    },
  };
}
