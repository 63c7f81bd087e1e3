/** The decoder and its size, alternatives, and whether words are coloured. */

import { announce, byId, create } from "./dom.js";

/** @typedef {import("./state.js").Store} Store */

const DECODERS = { greedy: "Greedy", beam: "Beam", npad: "NPAD" };
const MEANINGS = {
  greedy: "The likeliest word at every step: what actors are trained for",
  beam: "Beam search: several hypotheses side by side",
  npad: "Noisy parallel decoding: several samples, the likeliest wins",
};
/** Which value of the state is the size of which decoder. */
const SIZES = {
  beam: { key: "beamSize", limit: "maxBeamSize", name: "Beam size" },
  npad: { key: "samples", limit: "maxSamples", name: "Samples" },
};

/** @param {Store} store */
export function mountDecoderPicker(store) {
  const segments = byId("decoders");
  segments.replaceChildren(...Object.entries(DECODERS).map(([value, name]) =>
    create("label", { class: "segment", title: MEANINGS[value] },
      create("input", { type: "radio", name: "decoder", value }), create("span", {}, name))));
  segments.addEventListener("change", (event) => {
    const decoder = event.target.value;
    // Greedy decoding has one answer only.
    store.update({ decoder, ...(decoder === "greedy" && { alternatives: 0 }) });
  });
  store.watch(["decoder"], ({ decoder }) => check(segments, decoder));
  check(segments, store.state.decoder);
  mountSize(store);
  mountAlternatives(store);
  mountInfluence(store);
}

/**
 * @param {HTMLElement} segments
 * @param {string} value
 */
function check(segments, value) {
  for (const radio of segments.querySelectorAll("input")) radio.checked = radio.value === value;
}

/** @param {Store} store */
function mountSize(store) {
  const slider = byId("size");
  slider.addEventListener("input", () => {
    const { decoder, alternatives } = store.state;
    const size = Number(slider.value);
    store.update({ [SIZES[decoder].key]: size, alternatives: Math.min(alternatives, size - 1) });
  });
  const draw = () => {
    const { state } = store;
    const size = SIZES[state.decoder];
    byId("size-dial").hidden = !size;
    if (!size) return;
    byId("size-label").textContent = size.name;
    byId("size-value").textContent = String(state[size.key]);
    slider.max = String(state.catalog?.limits[size.limit] ?? 10);
    slider.value = String(state[size.key]);
  };
  store.watch(["catalog", "decoder", "beamSize", "samples"], draw);
}

/** @param {Store} store */
function mountAlternatives(store) {
  const select = byId("alternatives-count");
  select.addEventListener("change", () => {
    const alternatives = Number(select.value);
    const decoder = alternatives && store.state.decoder === "greedy" ? "beam" : store.state.decoder;
    if (decoder !== store.state.decoder) announce("Alternatives need a search: the decoder is beam now");
    const key = SIZES[decoder]?.key;
    const size = key && { [key]: Math.max(store.state[key], alternatives + 1) };
    store.update({ alternatives, decoder, ...size });
  });
  store.watch(["catalog", "alternatives"], ({ catalog, alternatives }) => {
    if (!catalog) return;
    const most = Math.min(catalog.limits.maxAlternatives, catalog.limits.maxBeamSize - 1);
    if (select.options.length !== most + 1) {
      select.replaceChildren(...Array.from({ length: most + 1 }, (_, count) => create("option", { value: count }, count ? String(count) : "none")));
    }
    select.value = String(alternatives);
  });
}

/** @param {Store} store */
function mountInfluence(store) {
  const toggle = byId("influence");
  toggle.addEventListener("change", () => store.update({ influence: toggle.checked }));
  const draw = () => {
    toggle.checked = store.state.influence;
    byId("legend").hidden = !(store.state.influence && store.state.objective !== "none");
  };
  store.watch(["influence", "objective"], draw);
  draw();
}
