import { describe, expect, it } from 'vitest';
import { resolverFiles } from '../../../src/sandboxes/resolver-files.js';

const content = (...parameters: Parameters<typeof resolverFiles>) =>
  Object.fromEntries(resolverFiles(...parameters).map((file) => [file.name, file.content]));

describe("a bare namespace's resolver files", () => {
  it('say what was asked, in the form of resolv.conf(5), hosts(5) and hostname(5)', () => {
    const dns = { servers: ['172.31.0.2', 'fd00:ec2::253'], search: ['ec2.internal', 'corp'], hostname: 'web' };
    expect(content(dns, ['web:172.31.13.14', 'web:2001:db8::5'])).toEqual({
      'resolv.conf': 'search ec2.internal corp\nnameserver 172.31.0.2\nnameserver fd00:ec2::253\n',
      hosts: '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n172.31.13.14\tweb\n2001:db8::5\tweb\n',
      hostname: 'web\n',
    });
  });

  it('are only those of which something was said', () => {
    expect(content({ servers: [], search: [], hostname: null }, [])).toEqual({});
    expect(content({ servers: ['172.31.0.2'], search: [], hostname: null }, [])).toEqual({
      'resolv.conf': 'nameserver 172.31.0.2\n',
    });
    expect(content({ servers: [], search: ['corp'], hostname: null }, [])).toEqual({ 'resolv.conf': 'search corp\n' });
  });
});
