import { afterAll, beforeAll, expect, it } from 'vitest';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service.js';

let lab: Lab;
let service: ServiceProcess;
beforeAll(async () => {
  lab = await Lab.create({ dhcp: true });
  service = await lab.startService();
});
afterAll(async () => {
  console.log(service?.logs().slice(-25).map((l) => JSON.stringify(l)).join('\n'));
  await lab?.destroy();
});
it('attaches', async () => {
  const eni = await lab.createEni();
  const answer = await service.post('web-1', { eni: { macAddress: eni.mac } });
  console.log(JSON.stringify(answer.body, null, 1));
  expect(answer.status).toBe(201);
  const gone = await service.del('web-1');
  console.log(JSON.stringify(gone.body));
  expect(gone.status).toBe(200);
});
