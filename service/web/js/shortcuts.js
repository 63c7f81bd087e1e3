/** Keys.  By code and not by letter: with Alt, a Mac types another letter. */

import { byId } from "./dom.js";

/**
 * @param {{translate: () => void, swap: () => void, compare: () => void, choose: (number: number) => void}} actions
 */
export function mountShortcuts(actions) {
  const dialog = byId("shortcuts");
  byId("open-shortcuts").addEventListener("click", () => dialog.showModal());

  addEventListener("keydown", (event) => {
    if (dialog.open) return;
    const action = actionOf(event);
    if (!action) return;
    event.preventDefault();
    action();
  });

  /** @param {KeyboardEvent} event */
  function actionOf(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return actions.translate;
    if (event.key === "?" && !isTyping(event.target)) return () => dialog.showModal();
    if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return null;
    if (isTyping(event.target) && typesAnother(event)) return null;
    const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
    if (digit) return () => actions.choose(Number(digit));
    return { KeyS: actions.swap, KeyM: actions.compare, KeyC: () => byId("copy").click() }[event.code] ?? null;
  }
}

/**
 * With Alt, a Mac types ß, ç and brackets, which belong to the text.
 * @param {KeyboardEvent} event
 */
function typesAnother(event) {
  return event.key.toLowerCase() !== event.code.slice(-1).toLowerCase();
}

/** @param {EventTarget|null} target */
function isTyping(target) {
  return target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type === "password");
}
