import { isPortName } from '../bridge/port.js';
import type { TraceParts } from './find-traces.js';
import { portName, sandboxName } from './names.js';

/**
 * Names that only tasks' parts bear, of tasks that nobody knows. Milliseconds for a thousand tasks, where a look all over
 * the host takes seconds; Docker is asked only when it is wanted.
 */
export async function suspectNames(
  parts: TraceParts,
  known: ReadonlySet<string>,
  withDocker: boolean,
): Promise<Set<string>> {
  const { bridge, sandboxes, settings, sandboxKind } = parts;
  const ports = new Set([...known].map(portName));
  const found = bridge.linkNames().filter((name) => isPortName(name) && !ports.has(name));
  for (const [name, hash] of await sandboxes.bare.named()) if (!known.has(hash)) found.push(name);
  if (withDocker && sandboxKind === 'docker') {
    const containers = new Set([...known].map((hash) => sandboxName(settings.instance, hash)));
    for (const { name } of await sandboxes.docker.list()) if (!containers.has(name)) found.push(name);
  }
  return new Set(found);
}
