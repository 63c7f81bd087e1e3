/** Puts the page together. */

import { mountAddress } from "./address.js";
import { Api } from "./api.js";
import { Banner } from "./banner.js";
import { currentPair } from "./catalog.js";
import { copyWith } from "./clipboard.js";
import { Comparison } from "./compare.js";
import { mountDecoderPicker } from "./decoder-picker.js";
import { byId } from "./dom.js";
import { mountTooltip } from "./influence.js";
import { mountLanguages, swapLanguages } from "./languages.js";
import { chooseCard, mountObjectivePicker } from "./objective-picker.js";
import { keepPreferences, loadPreferences } from "./preferences.js";
import { curlOf, requestOf } from "./request.js";
import { Session } from "./session.js";
import { fromFragment } from "./share.js";
import { mountShortcuts } from "./shortcuts.js";
import { mountSourcePane } from "./source-pane.js";
import { initialState, Store } from "./state.js";
import { mountTargetPane } from "./target-pane.js";
import { mountTheme } from "./theme.js";
import { Translator } from "./translator.js";

const api = new Api();
const preferences = loadPreferences();
/** What the page should show as soon as the service tells what it serves; the text is shown at once. */
const link = fromFragment(location.hash);
let { text = "", ...wish } = { ...preferences, ...link };
const store = new Store({ ...initialState(), text, influence: preferences.influence ?? true });
const translator = new Translator(store, api);
const tellLinkProblem = (problem) => {
  byId("link-problem").textContent = problem;
  byId("link-problem").hidden = !problem;
};
const session = new Session(store, api, translator, tellLinkProblem);
const comparison = new Comparison(store, api);

async function begin() {
  await session.begin(wish, Object.keys(link).length > 0 && Object.keys(wish).length > 0);
  if (store.state.catalog) wish = {};
}

new Banner(store, api, begin);
mountTheme();
mountLanguages(store);
mountSourcePane(store);
mountTargetPane(store);
mountTooltip(byId("output"));
mountObjectivePicker(store);
mountDecoderPicker(store);
keepPreferences(store);
mountAddress(store, session);
store.watch(["source", "target", "objective"], () => tellLinkProblem("")); // somebody has chosen something else
mountShortcuts({
  translate: () => translator.run({ again: true }),
  swap: () => swapLanguages(store),
  compare: () => comparison.run(),
  choose: chooseCard,
});

const drawRequest = () => {
  byId("curl").textContent = curlOf(requestOf(store.state), document.baseURI.split("#")[0], Boolean(api.key));
};
store.watch(
  [
    "text", "source", "target", "objective", "strength", "decoder", "beamSize", "samples", "alternatives", "influence",
    "answer", // by then a key may have been given
  ],
  drawRequest,
);
byId("copy-curl").addEventListener("click", () => copyWith(byId("copy-curl"), byId("curl").textContent));

store.watch(["catalog", "source", "target", "answer"], (state) => {
  const model = currentPair(state)?.model;
  byId("model").textContent = model
    ? `Model ${model.name} ${model.version}, ${model.parameters.toLocaleString("en")} parameters` : "";
});

begin();
