import { DockerEngine } from '../lab/docker-engine.js';
import { Lab } from '../lab/lab.js';
import type { Contestant } from './contestant.js';
import { type Score, contest } from './contest.js';
import { Floor } from './floor.js';
import { Plugins } from './plugins.js';
import { Product } from './product.js';

/** How many links the host has besides the contestants' ENIs, lo and eth0. */
const otherLinks = [0, 40, 164];

export interface AttachResult {
  readonly scores: readonly Score[];
  readonly missing: readonly string[];
}

/** Without IPv6: the plugins would wait for the end of duplicate address detection, and the comparison be a cheap one. */
export async function measureAttach(runs: number): Promise<AttachResult> {
  const lab = await Lab.create({ ipv6: false, name: 'bench' });
  const dockerLab = await Lab.create({ ipv6: false, name: 'bench with Docker' });
  const engine = await DockerEngine.start().catch((error: unknown) => String(error));
  try {
    const { contestants, missing } = await enter(lab, dockerLab, engine);
    const scores: Score[] = [];
    for (const [n, count] of otherLinks.entries()) {
      const more = count - (otherLinks[n - 1] ?? 0);
      if (more > 0) await Promise.all([lab, dockerLab].map((each) => each.addLinks(more)));
      const links = (await lab.host.ip('link', 'show')).length;
      process.stderr.write(`attach and detach with ${links} links, ${runs} runs ...\n`);
      scores.push(...(await contest(contestants, links, runs)));
    }
    return { scores, missing };
  } finally {
    await Promise.all([lab.destroy(), dockerLab.destroy()]);
    if (typeof engine !== 'string') await engine.stop();
  }
}

async function enter(lab: Lab, dockerLab: Lab, engine: DockerEngine | string) {
  const env = { TASK_ENI_LOG_LEVEL: 'info', TASK_ENI_DHCP_CLIENT: 'off' };
  const service = await lab.startService({ env });
  const contestants: Contestant[] = [
    new Product('task-eni, bare namespace, all given', await lab.createEni(), service, 'all'),
    new Product('task-eni, bare namespace, by ENI id', await lab.createEni(), service, 'id'),
    await Floor.make(lab, await lab.createEni()),
  ];
  const missing: string[] = [];
  const plugins = await Plugins.make(lab, await lab.createEni());
  if (plugins === undefined) missing.push('the CNI plugins: containernetworking-plugins is not installed');
  else contestants.push(plugins);
  if (typeof engine === 'string') missing.push(`Docker: ${engine}`);
  else {
    const withDocker = await dockerLab.startService({ env: { ...env, ...(await engine.serviceEnvironment()) } });
    contestants.push(new Product('task-eni, Docker, all given', await dockerLab.createEni(), withDocker, 'all'));
  }
  return { contestants, missing };
}
