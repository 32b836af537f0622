/** Docker's streams: a JSON value a line, `\n` or `\r\n` between them. Ends with the stream, fails with it, and destroys it when left. */
export async function* jsonLines(stream: NodeJS.ReadableStream): AsyncGenerator<unknown> {
  stream.setEncoding('utf8');
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
  }
  if (rest.trim() !== '') yield JSON.parse(rest);
}
