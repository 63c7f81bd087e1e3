/** Elements by id, and new ones.  Text always goes in as text: nothing here can become markup. */

/**
 * @param {string} id
 * @returns {any} the element; a missing one is our own mistake
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no #${id}`);
  return element;
}

/**
 * A new element: `create("button", {class: "button", type: "button"}, "Copy")`.  `false` and `null` leave an attribute
 * out, `true` sets it empty.
 * @param {string} tag
 * @param {Record<string, string|number|boolean|null|undefined>} [attributes]
 * @param {...(Node|string)} children
 * @returns {any}
 */
export function create(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

/**
 * An icon of icons.svg.
 * @param {string} name
 */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `icons.svg#${name}`);
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

/**
 * Lay a grid out in as many columns as leave no card alone in its row, as far as that can be; narrow screens have fewer.
 * @param {HTMLElement} grid
 * @param {number} most
 */
export function layOut(grid, most) {
  const cards = grid.children.length;
  const columns = cards <= most ? cards : [most, most - 1].find((count) => cards % count === 0) ?? most;
  grid.style.setProperty("--columns", String(Math.max(1, columns)));
}

/**
 * Tell a screen reader; the same words twice are told twice.
 * @param {string} words
 */
export function announce(words) {
  const announcer = byId("announcer");
  announcer.textContent = "";
  requestAnimationFrame(() => { announcer.textContent = words; });
}
