/** Copying, with "Copied" on the button. */

import { announce } from "./dom.js";

const SHOWN_MS = 1_600;

/**
 * Copy and say so on the button.
 * @param {HTMLButtonElement} button
 * @param {string} text
 * @param {string} [done]
 */
export async function copyWith(button, text, done = "Copied") {
  const copied = await copy(text);
  const label = button.querySelector("span") ?? button;
  const use = button.querySelector("use");
  button.dataset.label ??= label.textContent ?? "";
  label.textContent = copied ? done : "Press Ctrl C";
  button.toggleAttribute("data-done", copied);
  announce(copied ? done : "Copying is not allowed here; select the text and press Ctrl C");
  const before = use?.dataset.icon ?? use?.getAttribute("href") ?? "";
  if (use) use.dataset.icon = before;
  use?.setAttribute("href", copied ? "icons.svg#check" : before);
  clearTimeout(Number(button.dataset.timer));
  button.dataset.timer = String(setTimeout(() => {
    label.textContent = button.dataset.label ?? "";
    button.removeAttribute("data-done");
    use?.setAttribute("href", before);
  }, SHOWN_MS));
}

/**
 * @param {string} text
 * @returns {Promise<boolean>}
 */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text); // no clipboard without https, but for localhost
  }
}

/** @param {string} text */
function copyBySelection(text) {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "hidden";
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return copied;
}
