/** Cuts a stream into lines and never holds more than one line's worth. Pure but for what it keeps. */
export class LineReader {
  private rest = '';

  /** `limit` in characters; a longer line makes `push` throw. */
  constructor(private readonly limit: number) {}

  push(chunk: string): string[] {
    const lines = (this.rest + chunk).split('\n');
    this.rest = lines.pop() ?? '';
    if (this.rest.length > this.limit || lines.some((line) => line.length > this.limit))
      throw new Error(`a line is longer than ${this.limit} characters`);
    return lines;
  }
}
