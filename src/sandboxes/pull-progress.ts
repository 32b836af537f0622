/** A line of the answer to POST /images/create (Docker Engine API). */
interface PullLine {
  readonly status?: string;
  readonly id?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
  readonly error?: string;
}

interface Layer {
  readonly done: boolean;
  readonly current: number;
  readonly total: number;
}

/** The layers of an image while it is pulled, from what Docker says about each. Pure. */
export class PullProgress {
  private readonly layers = new Map<string, Layer>();
  /** Why Docker gave up; an answer that began with 200 says it so. */
  error: string | undefined;

  take(line: unknown): void {
    const { status = '', id, progressDetail, error } = line as PullLine;
    if (error !== undefined) this.error = error;
    // "Pulling from" bears the tag for an id; all other lines with an id are about a layer.
    if (id === undefined || status.startsWith('Pulling from')) return;
    const before = this.layers.get(id) ?? { done: false, current: 0, total: 0 };
    if (status === 'Pull complete' || status === 'Already exists' || status === 'Download complete')
      this.layers.set(id, { ...before, done: status !== 'Download complete', current: before.total });
    else if (status === 'Downloading')
      this.layers.set(id, {
        done: false,
        current: progressDetail?.current ?? before.current,
        total: progressDetail?.total ?? before.total,
      });
    else this.layers.set(id, before);
  }

  /** E.g. `1 of 3 layers, 1.2 of 3.4 MB`. */
  summary(): string {
    const layers = [...this.layers.values()];
    const done = layers.filter((layer) => layer.done).length;
    const sum = (pick: (layer: Layer) => number) =>
      (layers.reduce((all, layer) => all + pick(layer), 0) / 1e6).toFixed(1);
    return `${done} of ${layers.length} layers, ${sum(({ current }) => current)} of ${sum(({ total }) => total)} MB`;
  }
}
