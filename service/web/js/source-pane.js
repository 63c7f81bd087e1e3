/** The text to translate: typing, the counter, clearing. */

import { byId } from "./dom.js";
import { countCharacters } from "./request.js";

/** @param {import("./state.js").Store} store */
export function mountSourcePane(store) {
  /** @type {HTMLTextAreaElement} */
  const field = byId("source-text");
  const counter = byId("counter");
  const clear = byId("clear");

  const read = () => store.update({ text: field.value });
  field.addEventListener("input", (event) => {
    // An input method shows letters that are not chosen yet.
    if (!(event instanceof InputEvent && event.isComposing)) read();
  });
  field.addEventListener("compositionend", read);

  clear.addEventListener("click", () => {
    field.focus();
    field.select();
    // Deprecated, and the only way that Ctrl Z brings the text back.
    if (!document.execCommand("delete")) field.value = "";
    read();
  });

  const draw = () => {
    const { text, catalog } = store.state;
    if (field.value !== text) field.value = text;
    clear.hidden = !text;
    const count = countCharacters(text);
    const limit = catalog?.limits.charLimit;
    const isOver = limit !== undefined && count > limit;
    counter.textContent = isOver
      ? `${format(count - limit)} over the limit of ${format(limit)} characters`
      : format(count) + (limit === undefined ? "" : ` / ${format(limit)}`);
    counter.toggleAttribute("data-over", isOver);
    field.setAttribute("aria-invalid", String(isOver));
  };
  store.watch(["text", "catalog"], draw);
  draw();
}

/** @param {number} count */
function format(count) {
  return count.toLocaleString("en");
}
