import { tmpdir } from 'node:os';

/** On a real disk where there is one: overlay2 is not to be had on every tmpfs. */
export const enginesDirectory = `${tmpdir()}/task-eni-lab-${process.getuid?.() ?? 0}/engines`;

export interface EngineFiles {
  /** Marks the daemon's processes, and names its network namespace and the control group of its containers. */
  readonly mark: string;
  readonly directory: string;
  readonly data: string;
  readonly exec: string;
  readonly socket: string;
  readonly log: string;
  readonly state: string;
}

export function filesOf(name: string): EngineFiles {
  const directory = `${enginesDirectory}/${name}`;
  return {
    mark: `task-eni-lab-${name}`,
    directory,
    data: `${directory}/data`,
    exec: `${directory}/exec`,
    socket: `${directory}/docker.sock`,
    log: `${directory}/dockerd.log`,
    state: `${directory}/engine.json`,
  };
}
