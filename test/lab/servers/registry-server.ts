/** A registry of one image, as much of it as an engine needs to pull (OCI distribution specification, "Pulling"). */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { obey } from './control.js';

const [port = '', layerFile = '', entrypoint = ''] = process.argv.slice(2);

const media = 'application/vnd.docker';
const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

const tar = readFileSync(layerFile);
const layer = gzipSync(tar, { level: 1 });
const config = json({
  architecture: process.arch === 'x64' ? 'amd64' : process.arch,
  os: 'linux',
  config: { Entrypoint: [entrypoint] },
  rootfs: { type: 'layers', diff_ids: [digestOf(tar)] },
});
const describe = (mediaType: string, bytes: Buffer) => ({ mediaType, size: bytes.length, digest: digestOf(bytes) });
const manifest = json({
  schemaVersion: 2,
  mediaType: `${media}.distribution.manifest.v2+json`,
  config: describe(`${media}.container.image.v1+json`, config),
  layers: [describe(`${media}.image.rootfs.diff.tar.gzip`, layer)],
});

/** How long the layer takes, in milliseconds. */
let duration = 0;
let present = true;
let downloads = 0;

async function sendLayer(response: ServerResponse): Promise<void> {
  downloads++;
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': layer.length });
  const parts = 40;
  for (let part = 0; part < parts; part++) {
    response.write(layer.subarray((part * layer.length) / parts, ((part + 1) * layer.length) / parts));
    await sleep(duration / parts);
  }
  response.end();
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url ?? '';
  const send = (status: number, type: string, body: Buffer) => {
    const headers = { 'content-type': type, 'content-length': body.length, 'docker-content-digest': digestOf(body) };
    response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body);
  };
  if (path === '/v2/') send(200, 'application/json', json({}));
  else if (present && /\/manifests\/[^/]+$/.test(path)) send(200, `${media}.distribution.manifest.v2+json`, manifest);
  else if (path.endsWith(`/blobs/${digestOf(config)}`)) send(200, 'application/octet-stream', config);
  else if (path.endsWith(`/blobs/${digestOf(layer)}`)) void sendLayer(response);
  else send(404, 'application/json', json({ errors: [{ code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' }] }));
}

createServer(answer).listen(Number(port), '127.0.0.1', () =>
  obey({
    setDuration: (milliseconds: number) => void (duration = milliseconds),
    setPresent: (value: boolean) => void (present = value),
    downloads: () => downloads,
  }),
);
