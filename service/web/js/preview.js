/** The translation while it streams.  Sentences are decoded side by side, so each grows on its own. */

export class Preview {
  /** @param {string} source  the text that is being translated */
  constructor(source) {
    this.source = source;
    /** @type {Array<{text: string, source: string|null}>} */
    this.sentences = [];
  }

  /** @param {{name: string, data: any}} event */
  add({ name, data }) {
    if (name === "start") {
      this.sentences = Array.from({ length: data.sentences[0] }, () => ({ text: "", source: null }));
    } else if (name === "token") {
      this.sentences[data.sentence].text += data.token;
    } else if (name === "sentence") {
      this.sentences[data.sentence] = { text: data.translatedText, source: data.source };
    }
  }

  get isEmpty() {
    return this.sentences.every((sentence) => !sentence.text);
  }

  /** The sentences so far, with the line breaks of the source where it is known where they are. */
  toString() {
    let position = 0;
    let joined = "";
    for (const { text, source } of this.sentences) {
      let gap = " ";
      const start = source === null ? -1 : this.source.indexOf(source, position);
      if (start >= 0) {
        position = start + source.length;
        gap = /^\s*/.exec(this.source.slice(position))[0] || " ";
      }
      joined += text && text + gap;
    }
    return joined.trimEnd();
  }
}
