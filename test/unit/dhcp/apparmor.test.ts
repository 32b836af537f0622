import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allowsScript, judgeProfile, profileMode } from '../../../src/dhcp/apparmor.js';

const shipped = readFileSync(new URL('../../../deploy/apparmor/sbin.dhclient', import.meta.url), 'utf8');

describe("dhclient's AppArmor profile", () => {
  it('is found under each name that distributions give it', () => {
    for (const name of ['/{,usr/}sbin/dhclient', '/sbin/dhclient', '/usr/sbin/dhclient', 'dhclient'])
      expect(profileMode(`man (enforce)\n${name} (enforce)\nlsb_release (complain)\n`)).toBe('enforce');
  });

  it('is not taken for that of another program', () => {
    expect(profileMode('/usr/lib/connman/scripts/dhclient-script (enforce)\n/sbin/dhclient3 (enforce)\n')).toBeNull();
  });

  it('is complete with the addition that is shipped, and not with a comment about it', () => {
    expect(allowsScript(shipped)).toBe(true);
    expect(allowsScript(shipped.replace(/^(?=\/)/m, '# '))).toBe(false);
    expect(allowsScript('')).toBe(false);
  });

  it('is worth a word only when it is enforced without the addition', () => {
    const profile = { enabled: true, mode: 'enforce', addition: false };
    expect(judgeProfile(profile)).toMatchObject({ ok: false });
    expect(judgeProfile(profile).detail).toContain('deploy/apparmor');
    for (const other of [
      { ...profile, enabled: false },
      { ...profile, addition: true },
      { ...profile, mode: null },
    ])
      expect(judgeProfile(other).ok).toBe(true);
  });
});
