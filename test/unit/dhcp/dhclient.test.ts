import { describe, expect, it } from 'vitest';
import {
  dhclientCommand,
  dhclientConfiguration,
  dhclientFiles,
  findDhclient,
  hashOfArguments,
  hashOfFile,
  isConfigurationOf,
  parseLeaseFile,
} from '../../../src/dhcp/dhclient.js';

const hash = '0123456789abcdef0123';
const utc = (text: string) => Date.parse(`${text}Z`);

function lease4(address: string, expire: string, further = ''): string {
  return `lease {
  interface "eth0";
  fixed-address ${address};
  option subnet-mask 255.255.255.0;
  ${further}
  renew 2 2026/12/01 00:51:03;
  rebind 2 2026/12/01 00:52:01;
  expire ${expire};
}
`;
}

describe('a DHCPv4 lease file', () => {
  it('gives address and times, which are UTC', () => {
    expect(parseLeaseFile(lease4('10.0.1.55', '2 2026/12/01 00:52:16'), 4)).toEqual({
      addresses: ['10.0.1.55'],
      renewsAt: utc('2026-12-01T00:51:03'),
      expiresAt: utc('2026-12-01T00:52:16'),
    });
  });

  it('gives the last lease of several', () => {
    const text = lease4('10.0.1.55', '2 2026/12/01 00:52:16') + lease4('10.0.1.77', '2 2026/12/01 01:00:00');
    expect(parseLeaseFile(text, 4)?.addresses).toEqual(['10.0.1.77']);
  });

  it('leaves out a lease that is still being written', () => {
    const next = lease4('10.0.1.77', '2 2026/12/01 01:00:00');
    for (let length = 0; length < next.lastIndexOf('}'); length++) {
      const text = lease4('10.0.1.55', '2 2026/12/01 00:52:16') + next.slice(0, length);
      expect(parseLeaseFile(text, 4)?.addresses).toEqual(['10.0.1.55']);
    }
  });

  it('takes nothing of what a server puts into its strings for syntax', () => {
    const evil = String.raw`option domain-name "a\"} } lease { fixed-address 6.6.6.6; expire never; } # \\";`;
    expect(parseLeaseFile(lease4('10.0.1.55', '2 2026/12/01 00:52:16', evil), 4)?.addresses).toEqual(['10.0.1.55']);
  });

  it('has no end with "never", and reads times in epoch form', () => {
    expect(parseLeaseFile(lease4('10.0.1.55', 'never'), 4)?.expiresAt).toBe(Infinity);
    const epoch = 'epoch 1796086336; # Tue Dec 01 00:52:16 2026';
    expect(parseLeaseFile(lease4('10.0.1.55', epoch), 4)?.expiresAt).toBe(1796086336_000);
  });

  it('gives no lease for what is none', () => {
    for (const text of ['', 'lease', '}}}', 'lease { interface "eth0"; }', lease4('10.0.1.555', 'never')])
      expect(parseLeaseFile(text, 4)).toBeUndefined();
    expect(parseLeaseFile(lease4('10.0.1.55', 'tomorrow'), 4)).toBeUndefined();
  });
});

function lease6(renew: number, life: number, further = ''): string {
  return String.raw`default-duid "\000\003\000\001>\25276${'`'}\024";
lease6 {
  interface "eth0";
  ia-na 37:36:60:14 {
    starts 1796086217;
    renew ${renew};
    rebind 105;
    iaaddr 2001:DB8:1:0::55 {
      starts 1796086217;
      preferred-life 100;
      max-life ${life};
    }
  }
  ${further}
  option dhcp6.client-id 0:3:0:1:3e:aa:37:36:60:14;
}
`;
}

describe('a DHCPv6 lease file', () => {
  it('gives addresses in their canonical form, and times from seconds', () => {
    expect(parseLeaseFile(lease6(60, 120), 6)).toEqual({
      addresses: ['2001:db8:1::55'],
      renewsAt: 1796086277_000,
      expiresAt: 1796086337_000,
    });
  });

  it('takes half of the preferred lifetime when the server leaves the renewal to the client', () => {
    expect(parseLeaseFile(lease6(0, 120), 6)?.renewsAt).toBe(1796086267_000);
  });

  it('has no end with the infinite lifetime', () => {
    expect(parseLeaseFile(lease6(0xffffffff, 0xffffffff), 6)).toMatchObject({
      renewsAt: Infinity,
      expiresAt: Infinity,
    });
  });

  it('gives no lease when it was released', () => {
    expect(parseLeaseFile(lease6(60, 120, 'released;'), 6)).toBeUndefined();
  });
});

describe('the files of a client', () => {
  it('lie where the AppArmor profile of dhclient allows them, and bear nothing but the hash', () => {
    for (const file of Object.values(dhclientFiles(hash, 4)))
      expect(file).toMatch(/^\/var\/lib\/dhcp\/dhclient-te-0123456789abcdef0123-4\.(?:leases~?|conf)$/);
  });

  it('are recognised by name, and those of others are not', () => {
    expect(hashOfFile(`dhclient-te-${hash}-6.leases~`)).toBe(hash);
    for (const name of ['dhclient.leases', `dhclient-te-${hash}-5.leases`, `dhclient-te-${hash}-4.leases.bak`])
      expect(hashOfFile(name)).toBeUndefined();
  });

  it('say which instance wrote them', () => {
    expect(isConfigurationOf('blue', dhclientConfiguration('blue', 6))).toBe(true);
    expect(isConfigurationOf('blue', dhclientConfiguration('blue-2', 4))).toBe(false);
    expect(isConfigurationOf('blue', 'timeout 30;\n')).toBe(false);
  });
});

describe('the command line of a client', () => {
  const programs = { dhclient: '/sbin/dhclient', setpriv: '/usr/bin/setpriv', script: '/usr/bin/true' };
  const { command, args } = dhclientCommand(programs, { hash, instance: 'blue', family: 6, interface: 'eth0' });

  it('dies with its parent, stays in the foreground and runs no script that does anything', () => {
    const files = `-cf /var/lib/dhcp/dhclient-te-${hash}-6.conf -lf /var/lib/dhcp/dhclient-te-${hash}-6.leases`;
    expect([command, ...args].join(' ')).toBe(
      `/usr/bin/setpriv --pdeathsig TERM /sbin/dhclient -6 -D LL -d --no-pid -e task_eni_instance=blue ${files} -sf /usr/bin/true eth0`,
    );
  });

  it('is recognised again by its own instance alone', () => {
    const running = args.slice(2);
    expect(hashOfArguments(running, 'blue')).toBe(hash);
    expect(hashOfArguments(running, 'green')).toBeUndefined();
    expect(hashOfArguments(['/sbin/dhclient', '-lf', '/var/lib/dhcp/dhclient.leases', 'eth0'], 'blue')).toBeUndefined();
    const elsewhere = running.map((arg) => arg.replace('/var/lib/dhcp', '/tmp'));
    expect(hashOfArguments(elsewhere, 'blue')).toBeUndefined();
  });
});

it('runs no client when it is switched off', () => {
  expect(findDhclient('off')).toBeNull();
});
