import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DockerEngine } from './docker-engine.js';

describe('the engine of the lab', () => {
  let engine: DockerEngine;
  beforeAll(async () => {
    engine = await DockerEngine.start();
  });
  afterAll(() => engine.stop());

  it('runs containers that have lo and nothing else, and programs to look about', async () => {
    const image = await engine.importImage('app');
    const links = await engine.docker('run', '--rm', '--network', 'none', image, 'ip', '-o', 'link');
    expect(links.split('\n').map((line) => line.split(':')[1]?.trim())).toContain('lo');
  });
});
