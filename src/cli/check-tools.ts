import { describeError } from '../errors.js';
import { dhclientProfile, judgeProfile } from '../dhcp/apparmor.js';
import { findExecutable } from '../dhcp/executable.js';
import { InstanceMetadata } from '../metadata/instance-metadata.js';
import { DockerConnection, isRefusal } from '../sandboxes/docker-connection.js';
import { parseDockerHost } from '../sandboxes/docker-host.js';
import { chooseKind } from '../sandboxes/sandbox-kind.js';
import type { Settings } from '../settings.js';
import { type Finding, fail, ok, warn } from './finding.js';

const metadataPatienceMs = 2000;

/** The Docker engine, where sandboxes are containers. */
export async function checkDocker(settings: Settings, environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  if (chooseKind(settings) === 'netns') return [ok('sandboxes', 'bare network namespaces; no Docker engine is used')];
  const connection = new DockerConnection(parseDockerHost(settings.dockerHost, environment));
  try {
    await connection.ping();
  } catch (error) {
    return [fail('Docker', describeError(error), 'Start Docker, set DOCKER_HOST, or set TASK_ENI_SANDBOX=netns.')];
  }
  return [
    ok('Docker', `the engine at ${connection.name} answers`),
    await checkPauseImage(connection, settings.pauseImage),
  ];
}

async function checkPauseImage(connection: DockerConnection, image: string): Promise<Finding> {
  const name = 'pause image';
  try {
    await connection.call(`look for ${image}`, (docker) => docker.getImage(image).inspect());
    return ok(name, `${image} is there`);
  } catch (error) {
    if (!isRefusal(error, 404)) return fail(name, describeError(error), 'See the log of the Docker engine.');
    const advice = 'It is pulled by the first task; where nothing can be pulled, load it as deploy/pause says.';
    return warn(name, `${image} is not there`, advice);
  }
}

/** The DHCP client, and what AppArmor lets it do. */
export async function checkDhclient({ dhcpClient }: Settings): Promise<Finding[]> {
  const name = 'dhclient';
  if (dhcpClient === 'off') return [ok(name, 'leases are not renewed (TASK_ENI_DHCP_CLIENT=off)')];
  const path = findExecutable('dhclient');
  const advice = 'Install isc-dhcp-client, or set TASK_ENI_DHCP_CLIENT=off.';
  if (path === undefined && dhcpClient === 'dhclient') return [fail(name, 'it is not installed', advice)];
  if (path === undefined) return [warn(name, 'it is not installed, so leases are not renewed', advice)];
  if (findExecutable('setpriv') === undefined)
    return [fail(name, 'setpriv, which ties it to the service, is not installed', 'Install util-linux.')];
  const { ok: fine, detail } = judgeProfile(await dhclientProfile());
  const profile = fine ? ok('AppArmor', detail) : warn('AppArmor', detail, 'Install the addition of deploy/apparmor.');
  return [ok(name, path), profile];
}

/** Instance metadata, without which requests must say all by themselves. */
export async function checkMetadata({ metadataEndpoint: endpoint }: Settings): Promise<Finding> {
  const name = 'instance metadata';
  const metadata = new InstanceMetadata({ endpoint, timeoutMilliseconds: metadataPatienceMs });
  try {
    const instanceId = await metadata.get('instance-id', AbortSignal.timeout(metadataPatienceMs));
    return ok(name, `${endpoint} answers${instanceId === undefined ? '' : ` for ${instanceId}`}`);
  } catch (error) {
    const advice =
      'Requests must then give address and gateway themselves. On EC2, enable IMDSv2; in a container, raise its hop limit to 2.';
    return warn(name, describeError(error), advice);
  } finally {
    metadata.close();
  }
}
