import { describe, expect, it } from 'vitest';
import { type Mac, parseMac } from '../../../src/addresses/mac.js';
import { HostLinks } from '../../../src/attachments/host-links.js';
import type { Link } from '../../../src/kernel/link-message.js';
import { link } from '../eni/link.js';

const mac = parseMac('02:00:00:00:00:01') as Mac;
const other = parseMac('02:00:00:00:00:02') as Mac;

/** A host whose links the test sets, and how often all of them were listed. */
class Kernel {
  listings = 0;
  present: Link[] = [];
  links = () => {
    this.listings += 1;
    return Promise.resolve(this.present);
  };
  linkByIndex = (index: number) => Promise.resolve(this.present.find((each) => each.index === index));
}

describe('finding an ENI on the host', () => {
  it('asks for the one link that was seen last, as it is now', async () => {
    const kernel = new Kernel();
    const links = new HostLinks(kernel);
    kernel.present = [link(7, 'eth1', { mac })];
    expect((await links.find(mac))?.name).toBe('eth1');
    kernel.present = [link(7, 'ens6', { mac })];
    expect((await links.find(mac))?.name).toBe('ens6');
    expect(kernel.listings).toBe(1);
  });

  it.each([
    ['is gone', []],
    ['has another index', [link(9, 'eth1', { mac })]],
    ['has left its index to another link', [link(7, 'eth1', { mac: other }), link(9, 'eth1', { mac })]],
  ])('lists all again when the link %s', async (_, present) => {
    const kernel = new Kernel();
    const links = new HostLinks(kernel);
    kernel.present = [link(7, 'eth1', { mac })];
    await links.find(mac);
    kernel.present = present;
    expect((await links.find(mac))?.index).toBe(present.length === 0 ? undefined : 9);
    expect(kernel.listings).toBe(2);
  });
});
