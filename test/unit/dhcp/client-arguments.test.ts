import { describe, expect, it } from 'vitest';
import { servedInterface } from '../../../src/dhcp/client-arguments.js';

/** The interface that a command line serves; the first word is the executable's name. */
const served = (line: string) => servedInterface(line.split(' ')[0]?.replace(/.*\//, '') ?? '', line.split(' '));

describe('the interface that a client of the host serves', () => {
  it.each([
    'dhclient eth1',
    'dhclient -1 -v eth1 -nw',
    '/sbin/dhclient -4 -v -i -pf /run/dhclient.eth1.pid -lf /var/lib/dhcp/dhclient.eth1.leases -I -df /var/lib/dhcp/d6.leases eth1',
    '/sbin/dhclient -q -lf /var/lib/dhclient/dhclient--eth1.lease -pf /run/dhclient-eth1.pid -H ip-10-0-0-1 eth1',
    '/sbin/dhclient -d -q -sf /usr/libexec/nm-dhcp-helper -pf /run/dhclient-eth1.pid -cf /var/lib/NetworkManager/d.conf eth1',
    'dhcpcd eth1',
    'dhcpcd -q -f /dev/null -c/bin/true -t 30 -4 eth1',
    'dhcpcd --script=/bin/true --timeout 5 eth1',
    'udhcpc -b -p /run/udhcpc.eth1.pid -i eth1',
    'udhcpc -nqieth1 -x hostname:a',
    'udhcpc --interface=eth1',
    'udhcpc6 --interface eth1',
    'busybox udhcpc -f -i eth1',
  ])('is eth1: %s', (line) => {
    expect(served(line)).toBe('eth1');
  });

  it('is read from the title that dhcpcd gives itself', () => {
    expect(servedInterface('dhcpcd', ['dhcpcd: eth1 [ip4] [ip6]', '', ''])).toBe('eth1');
    expect(servedInterface('dhcpcd', ['dhcpcd: [manager] [ip4]'])).not.toBe('eth1');
    expect(servedInterface('dhcpcd', ['dhcpcd: [network proxy] eth1'])).not.toBe('eth1');
  });

  it('is eth0 for a udhcpc that was told none', () => {
    expect(served('udhcpc -f')).toBe('eth0');
  });

  it.each(['dhclient', 'dhclient -v', 'dhclient eth0 eth1', 'dhcpcd -q -b', 'dhcpcd eth1 eth2', 'busybox sh -i eth1'])(
    'is none when the client serves several or all, or is no client: %s',
    (line) => {
      expect(served(line)).toBeUndefined();
    },
  );

  it('is not the value of an option', () => {
    expect(served('dhclient -lf eth1 eth0')).toBe('eth0');
    expect(served('udhcpc -x eth1 -i eth0')).toBe('eth0');
    expect(served('udhcpc -sieth1')).toBe('eth0');
    expect(served('dhcpcd -e eth1 eth0')).toBe('eth0');
  });

  it('is none for any other executable', () => {
    expect(servedInterface('bash', ['dhclient', 'eth1'])).toBeUndefined();
  });
});
