/** The theme: the system's, light or dark. */

import { announce, byId } from "./dom.js";

const ORDER = ["system", "light", "dark"];

export function mountTheme() {
  const button = byId("theme");
  const root = document.documentElement;
  const draw = () => {
    const theme = root.dataset.theme ?? "system";
    button.querySelector("use").setAttribute("href", `icons.svg#theme-${theme}`);
    button.setAttribute("aria-label", `Theme: ${theme}`);
    button.title = `Theme: ${theme}`;
  };
  button.addEventListener("click", () => {
    const theme = ORDER[(ORDER.indexOf(root.dataset.theme ?? "system") + 1) % ORDER.length];
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
    try {
      localStorage.setItem("nudge.theme", theme);
    } catch { /* then it lasts until the page is left */ }
    draw();
    announce(`Theme: ${theme}`);
  });
  draw();
}
