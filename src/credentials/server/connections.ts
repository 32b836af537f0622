/** How many connections each source holds. Pure but for what it keeps. */
export class Connections {
  private readonly held = new Map<string, number>();
  private total = 0;

  constructor(
    private readonly mostEach: number,
    private readonly mostTogether: number,
  ) {}

  get size(): number {
    return this.total;
  }

  /** False when the source, or all of them together, have as many as they may. */
  open(source: string): boolean {
    const count = this.held.get(source) ?? 0;
    if (count >= this.mostEach || this.total >= this.mostTogether) return false;
    this.held.set(source, count + 1);
    this.total += 1;
    return true;
  }

  close(source: string): void {
    const count = this.held.get(source) ?? 0;
    if (count === 0) return;
    this.total -= 1;
    if (count === 1) this.held.delete(source);
    else this.held.set(source, count - 1);
  }
}
