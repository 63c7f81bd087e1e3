/** Server-sent events out of a fetched body.  EventSource cannot send a POST, so that the text stays out of logs. */

/**
 * @param {ReadableStream<any>} body
 * @returns {AsyncGenerator<{name: string, data: any}>}
 */
export async function* readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let isDone = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isDone = done;
      if (done) return;
      rest += value;
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parseEvent(block);
        if (event) yield event;
      }
    }
  } finally {
    if (!isDone) reader.cancel().catch(() => {}); // whoever listened has had enough
  }
}

/**
 * @param {string} block  the lines of one event
 * @returns {{name: string, data: any}|null}  null for a comment
 */
export function parseEvent(block) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  return data.length ? { name, data: JSON.parse(data.join("\n")) } : null;
}
