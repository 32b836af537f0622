/** What the host's instance profile gives; the STS of the lab knows it too. Made up. */
import type { Role } from './servers/metadata-tree.js';

export const account = '123456789012';
export const region = 'us-west-2';

export const hostRole: Role = {
  name: 'task-eni-host',
  credentials: {
    accessKeyId: 'ASIALABHOST000000001',
    secretAccessKey: 'lab-host-secret-4f0c5e1b7a9d2c3e6f80',
    token: 'lab-host-session-token-91c4d7e02b6f5a38',
    expiration: '2099-12-31T23:59:59Z',
  },
};
