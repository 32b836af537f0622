import { existsSync } from 'node:fs';
import type { Settings } from '../settings.js';
import { defaultDockerSocket } from './docker-host.js';

/**
 * Which sandboxes the service makes; asked once, at start, so that an engine that comes or goes later changes nothing.
 * `auto` is docker when DOCKER_HOST is set or Docker's own socket file exists.
 */
export function chooseKind(settings: Pick<Settings, 'sandbox' | 'dockerHost'>): 'docker' | 'netns' {
  if (settings.sandbox !== 'auto') return settings.sandbox;
  return settings.dockerHost !== null || existsSync(defaultDockerSocket) ? 'docker' : 'netns';
}
