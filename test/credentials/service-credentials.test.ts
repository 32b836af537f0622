import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../lab/command.js';
import { hostRole } from '../lab/credentials.js';
import { ServiceWorld, assumeRole, fetchAs, pushedFor, roleArn } from './service-world.js';

describe('the credentials of a task, by the API', () => {
  let world: ServiceWorld;
  beforeAll(async () => {
    world = await ServiceWorld.make();
  });
  afterAll(() => world?.lab.destroy());

  const assumed = async () => (await world.sts.calls()).filter(({ action }) => action === 'AssumeRole');
  const codeOf = (text: string) => (JSON.parse(text) as { code: string }).code;

  it('fail the attach with the cause when STS refuses the role, and the ENI is home', async () => {
    await world.sts.refuse(roleArn('forbidden'));
    const { status, body } = await world.post('forbidden', assumeRole('forbidden'));
    expect(status).toBe(422);
    expect(body).toMatchObject({ code: 'credentials-refused', step: 'register-credentials', taskId: 'forbidden' });
    expect(body.detail).toContain('AccessDenied');
    const links = await world.lab.host.ip('link', 'show');
    expect(links.map(({ ifname }) => ifname)).toContain('eth1');
  });

  it('fail the attach with 504 when STS does not answer', async () => {
    const fault = await world.sts.fail({ kind: 'hang', key: 'AssumeRole' });
    const { status, headers, body } = await world.post('late', assumeRole('app'));
    await world.sts.heal(fault);
    expect(status).toBe(504);
    expect(body.code).toBe('credentials-timeout');
    expect(headers['retry-after']).toBeDefined();
  });

  it('are refused with the reason when they are to last longer than role chaining allows', async () => {
    const { status, body } = await world.post('long', { ...assumeRole('app'), durationSeconds: 7200 });
    expect(status).toBe(422);
    expect(body.detail).toMatch(/role chaining/);
  });

  it.each(['accessKeyId', 'secretAccessKey', 'sessionToken', 'expiration', 'roleArn'])(
    'are refused with 400 when %s is missing from pushed ones',
    async (name) => {
      for (const changes of [{ [name]: undefined }, { [name]: '' }]) {
        const { status, body } = await world.post('incomplete', pushedFor('x', changes));
        expect(status).toBe(400);
        expect(body.errors.map(({ path }) => path)).toContain(`credentials.${name}`);
        expect(JSON.stringify(body)).not.toContain('hush');
      }
    },
  );

  it('are replaced by a PUT and refused after a DELETE, at the same path', async () => {
    const task = await world.attach('web', assumeRole('app'));
    expect((await fetchAs(task)).body).toContain(roleArn('app'));
    expect((await world.put('web', pushedFor('web'))).status).toBe(200);
    const pushed = JSON.parse((await fetchAs(task)).body) as Record<string, string>;
    expect(pushed).toMatchObject({ AccessKeyId: 'AKIAWEB0000000000000', Expiration: '2099-01-01T00:00:00Z' });
    expect((await world.deleteCredentials('web')).status).toBe(204);
    const gone = await fetchAs(task);
    expect([gone.codes, codeOf(gone.body)]).toEqual([{ 400: 1 }, 'InvalidIdInRequest']);
    expect((await world.put('web', assumeRole('other'))).status).toBe(200);
    const again = await world.service.get('web');
    expect((await fetchAs(again.body)).body).toContain(roleArn('other'));
    expect(again.body.credentials.relativeUri).toBe(task.credentials.relativeUri);
  });

  it('can be given to a task that began without any', async () => {
    const eni = await world.lab.createEni();
    await world.service.post('bare', { eni: { id: eni.id } });
    expect((await world.put('bare', pushedFor('bare'))).status).toBe(200);
    expect((await fetchAs((await world.service.get('bare')).body)).body).toContain('AKIABARE');
  });

  it("are nobody's after the detach, and STS is asked no more", async () => {
    await world.sts.setLifetime(3);
    const task = await world.attach('short', assumeRole('short'));
    const witness = await world.attach('witness', pushedFor('witness'));
    await world.sts.setLifetime(null);
    await world.service.del('short');
    const before = (await assumed()).length;
    const fetched = await fetchAs(witness, task);
    expect([fetched.codes, codeOf(fetched.body)]).toEqual([{ 400: 1 }, 'InvalidIdInRequest']);
    await delay(6000);
    expect((await assumed()).length).toBe(before);
  });

  it('cannot be fetched while the attach is under way', async () => {
    const namespace = await world.lab.createNamespace();
    const fault = await world.sts.fail({ kind: 'delay', key: 'AssumeRole', milliseconds: 3000 });
    const posted = world.post('slow', assumeRole('slow'), { sandbox: { netns: namespace.path } });
    const knock = () =>
      run('nsenter', [
        `--net=${namespace.path}`,
        'curl',
        '-sm1',
        '-w',
        '%{http_code}',
        'http://169.254.170.2/v2/credentials/x',
      ]);
    await expect.poll(knock, { timeout: 5000, interval: 100 }).toMatch(/InvalidIdInRequest.*400$/);
    const { status, body } = await posted;
    await world.sts.heal(fault);
    expect(status).toBe(201);
    expect((await fetchAs(body)).codes).toEqual({ 200: 1 });
  });

  it('are counted', async () => {
    await delay(1500);
    const { body } = await world.service.api<string>('GET', '/metrics');
    expect(body).toMatch(/^task_eni_credentials_requests_total\{code="200"\} [1-9]/m);
    expect(body).toMatch(/^task_eni_credentials_requests_total\{code="400"\} [1-9]/m);
    expect(body).toMatch(/^task_eni_credentials_request_duration_seconds_count [1-9]/m);
    expect(body).toMatch(/^task_eni_credentials_refresh_total\{outcome="success"\} [1-9]/m);
    expect(body).toMatch(/^task_eni_credentials_earliest_expiry_timestamp_seconds \d/m);
    expect(body).not.toContain('hush');
  });

  it('are secret: in no log, answer, metric or file of the state folder', async () => {
    const answers = await Promise.all(
      ['/tasks', '/tasks/web/network', '/host', '/metrics'].map((path) => world.service.api<unknown>('GET', path)),
    );
    const files = await run('grep', [
      '-rlE',
      'hush-(secret|token)',
      `${world.lab.directory}/state`,
      `${world.lab.directory}/run`,
    ]).catch(() => '');
    // What was pushed lies on tmpfs alone.
    expect(files.split('\n').filter((file) => file !== '' && !file.includes('/run/credentials-'))).toEqual([]);
    const told = JSON.stringify([answers, world.service.logs(), world.auditLines()]);
    const { secretAccessKey, token } = hostRole.credentials;
    for (const secret of ['hush-secret', 'hush-token', secretAccessKey, token]) expect(told).not.toContain(secret);
  });

  it('leave a log of which every line is JSON, though AWS SDKs warn of Node 20', () => {
    const lines = world.service.logs();
    expect(lines.filter(({ level }) => level === undefined)).toEqual([]);
    expect(lines.filter(({ msg }) => msg.includes('AWS SDK for JavaScript'))).toEqual([]);
  });
});
