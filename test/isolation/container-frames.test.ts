import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Inside } from '../attach/inside.js';
import { DockerEngine } from '../lab/docker-engine.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { type Frame, type Segment, altered, baitPort, heardBy, link, rawFrames, server } from './ground.js';

interface Joined {
  readonly networkMode: string;
  readonly address: string;
  readonly mac: string;
}

/** As `docker run` starts it, without a word about rights: CAP_NET_RAW is among those that it gives. */
describe('raw frames of a container that joined its task', () => {
  let engine: DockerEngine;
  let lab: Lab;
  let service: ServiceProcess;
  let app: string;
  let web: Joined;
  let db: Joined;
  let honest: Frame;

  beforeAll(async () => {
    engine = await DockerEngine.start();
    lab = await Lab.create({ name: 'container frames', ipv6: false });
    service = await lab.startService({ env: await engine.serviceEnvironment() });
    app = await engine.importImage('app');
    [web, db] = [await attach('web'), await attach('db')];
    const bridge = await new Inside(`/run/netns/${lab.id}`).link('ecs-eni');
    honest = {
      from_mac: web.mac,
      to_mac: bridge.address ?? '',
      from: web.address,
      to: server,
      from_port: 40_000,
      to_port: 80,
    };
  });
  afterAll(async () => {
    for (const task of ['web', 'db']) await service?.del(task, { force: true });
    await lab?.destroy();
    await engine?.stop();
  });

  async function attach(task: string): Promise<Joined> {
    const eni = await lab.createEni();
    const { status, body } = await service.post(task, { eni: { macAddress: eni.mac }, dhcp: false });
    expect(status, JSON.stringify(body)).toBe(201);
    const { address: mac } = await new Inside(body.sandbox.netns).link(link);
    return { networkMode: body.networkMode, address: body.linkLocal.ipv4Address, mac: mac ?? '' };
  }

  /** Sends the frames, and listens for so many seconds; Python is the machine's own, seen read-only. */
  async function inContainer({ networkMode }: Joined, seconds: number, ...frames: Frame[]): Promise<Segment[]> {
    const folders = ['/usr:/usr', '/usr/lib:/lib', '/usr/lib64:/lib64'].flatMap((folder) => ['-v', `${folder}:ro`]);
    const python = ['/usr/bin/python3', '-c', rawFrames, link, String(seconds), JSON.stringify(frames)];
    return heardBy(await engine.docker('run', '--rm', '--network', networkMode, ...folders, app, ...python));
  }

  it('are answered when they are true', async () => {
    const answer = { from: server, to: web.address, from_port: 80, to_port: 40_000, flags: 0x12 };
    expect(await inContainer(web, 1, honest)).toContainEqual(answer);
  });

  it("bring no answer under its neighbour's address, with its hardware address or without", async () => {
    const forged = { ...honest, from: db.address };
    expect(await inContainer(web, 1, forged, { ...forged, from_mac: db.mac, from_port: 40_001 })).toEqual([]);
  });

  it('never reach its neighbour, by its hardware address or by that of all', async () => {
    const aimed = altered(honest, { to: db.address, to_port: baitPort, from_port: 43_000 });
    const frames = [db.mac, 'ff:ff:ff:ff:ff:ff', '01:00:5e:00:00:01'].map((to_mac) => altered(aimed, { to_mac }));
    // The neighbour listens for as long as the frames are sent again and again, and hears what is its own.
    const own = { ...honest, from_mac: db.mac, from: db.address, from_port: 44_000 };
    const listening = inContainer(db, 3, own);
    let over = false;
    const ended = listening.finally(() => (over = true));
    while (!over) await inContainer(web, 0.1, ...frames);
    const heard = await ended;
    expect(heard.some(({ from, to_port }) => from === server && to_port === 44_000)).toBe(true);
    expect(heard.filter(({ from, from_port }) => from === web.address || from_port === 43_000)).toEqual([]);
  });
});
