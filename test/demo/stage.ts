/** What the demo puts up, and takes down again whatever happens: at its end, on Ctrl-C, or when something fails. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { DockerEngine } from '../lab/docker-engine.js';
import { Lab } from '../lab/lab.js';
import { belongsTo, labDirectory } from '../lab/lab-id.js';
import { labProcesses } from '../lab/process-table.js';

export class Stage {
  private readonly takeDowns: (() => Promise<void>)[] = [];
  private labId: string | undefined;

  lab(): Promise<Lab> {
    return this.putUp(Lab.create({ name: 'demo', dhcp: true, routerAdvertisements: true }), (lab) => {
      this.labId = lab.id;
      return lab.destroy();
    });
  }

  engine(): Promise<DockerEngine> {
    return this.putUp(DockerEngine.start(), (engine) => engine.stop());
  }

  /** Noted before it is there: an interruption that comes meanwhile waits for it, and then removes it. */
  putUp<T>(making: Promise<T>, takeDown: (made: T) => Promise<void>): Promise<T> {
    // Whoever asked for it has the error; when it was not made, there is nothing to take down.
    const made = making.then(
      (value) => () => takeDown(value),
      () => async () => {},
    );
    this.takeDowns.push(async () => (await made)());
    return making;
  }

  /** Last things first. */
  async takeDown(): Promise<void> {
    for (const takeDown of this.takeDowns.toReversed()) await takeDown();
  }

  /** Names of what the lab left on the machine. */
  async left(): Promise<string[]> {
    const id = this.labId;
    if (id === undefined) return [];
    const namespaces = (await readdir('/run/netns')).filter((name) => belongsTo(id, name));
    const processes = await labProcesses([id], new Set());
    return [
      ...namespaces.map((name) => `/run/netns/${name}`),
      ...processes.map((pid) => `process ${pid}`),
      ...[labDirectory(id)].filter((directory) => existsSync(directory)),
    ];
  }
}
