import { homedir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { formatDockerAddress, parseDockerHost } from '../../../src/sandboxes/docker-host.js';
import { chooseKind } from '../../../src/sandboxes/sandbox-kind.js';
import { SettingsError } from '../../../src/settings.js';

const plain = { kind: 'tcp', certificates: null };

describe('DOCKER_HOST', () => {
  it.each([
    [null, {}, { kind: 'unix', path: '/var/run/docker.sock' }],
    ['unix:///run/user/0/docker.sock', {}, { kind: 'unix', path: '/run/user/0/docker.sock' }],
    ['tcp://127.0.0.1:2375', {}, { ...plain, host: '127.0.0.1', port: 2375 }],
    ['tcp://engine', {}, { ...plain, host: 'engine', port: 2375 }],
    ['engine:4243', {}, { ...plain, host: 'engine', port: 4243 }],
    ['tcp://[::1]:2375/', {}, { ...plain, host: '::1', port: 2375 }],
    ['http://engine:80', {}, { ...plain, host: 'engine', port: 80 }],
    ['tcp://engine', { DOCKER_CERT_PATH: '/certs' }, { ...plain, host: 'engine', port: 2375 }],
    [
      'tcp://engine',
      { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/certs' },
      { kind: 'tcp', host: 'engine', port: 2376, certificates: '/certs' },
    ],
    [
      'tcp://engine:2375',
      { DOCKER_TLS_VERIFY: '1' },
      { kind: 'tcp', host: 'engine', port: 2375, certificates: `${homedir()}/.docker` },
    ],
    ['https://engine', { DOCKER_CERT_PATH: '/c' }, { kind: 'tcp', host: 'engine', port: 2376, certificates: '/c' }],
    ['unix:///docker.sock', { DOCKER_TLS_VERIFY: '1' }, { kind: 'unix', path: '/docker.sock' }],
  ])('%s with %o is read as the docker command reads it', (text, environment, address) => {
    expect(parseDockerHost(text, environment)).toEqual(address);
  });

  it.each([
    ['ssh://root@engine', /another host/],
    ['npipe:////./pipe/docker_engine', /neither unix:\/\/ nor tcp:\/\//],
    ['fd://', /neither unix/],
    ['unix://docker.sock', /absolute path/],
    ['tcp://engine:99999', /not host:port/],
    ['tcp://engine:0', /not host:port/],
    ['tcp://user@engine:2375', /not host:port/],
    ['tcp://engine/prefix', /not host:port/],
    ['tcp://', /not host:port/],
  ])('%s is refused with the reason, and named', (text, reason) => {
    const parse = () => parseDockerHost(text, {});
    expect(parse).toThrow(SettingsError);
    expect(parse).toThrow(/^DOCKER_HOST: /);
    expect(parse).toThrow(reason);
  });

  it.each(['unix:///var/run/docker.sock', 'tcp://engine:2375', 'tcp://[::1]:2375'])(
    '%s is shown as it was given',
    (text) => {
      expect(formatDockerAddress(parseDockerHost(text, {}))).toBe(text);
    },
  );
});

describe('the kind of sandbox', () => {
  it('is the one that is set', () => {
    expect(chooseKind({ sandbox: 'netns', dockerHost: 'unix:///docker.sock' })).toBe('netns');
    expect(chooseKind({ sandbox: 'docker', dockerHost: null })).toBe('docker');
  });

  it('is docker by itself when DOCKER_HOST is set', () => {
    expect(chooseKind({ sandbox: 'auto', dockerHost: 'unix:///not/there' })).toBe('docker');
  });
});
