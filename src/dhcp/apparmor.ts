/** What AppArmor on this host lets dhclient do (apparmor(7)). Written by the profile that Debian and Ubuntu ship. */
import { readFile } from 'node:fs/promises';

/** Included by /etc/apparmor.d/sbin.dhclient; deploy/apparmor has what belongs into it. */
export const profileAddition = '/etc/apparmor.d/local/sbin.dhclient';

export interface DhclientProfile {
  /** AppArmor is in the kernel and on. */
  readonly enabled: boolean;
  /** How dhclient's profile is loaded; null: not loaded, or not ours to see (CAP_MAC_ADMIN). */
  readonly mode: string | null;
  /** The addition allows the script that the service gives to dhclient. */
  readonly addition: boolean;
}

/** Mode of dhclient's profile in /sys/kernel/security/apparmor/profiles: a line `name (mode)` each. */
export function profileMode(profiles: string): string | null {
  return /^(?:\/\{,usr\/\}sbin\/|\/(?:usr\/)?sbin\/)?dhclient \((\w+)\)$/m.exec(profiles)?.[1] ?? null;
}

/** Whether the text has a rule that lets `true` be executed. */
export function allowsScript(addition: string): boolean {
  return addition.split('\n').some((line) => /^\s*\/\S*bin\/true\s+\w*x\w*,/.test(line));
}

/** The sentence for an operator; not ok is worth a warning, and keeps nothing from working. */
export function judgeProfile({ enabled, mode, addition }: DhclientProfile): { ok: boolean; detail: string } {
  if (!enabled) return { ok: true, detail: 'AppArmor is off' };
  if (addition) return { ok: true, detail: `${profileAddition} allows what the service gives to dhclient` };
  if (mode === null) return { ok: true, detail: 'AppArmor has no profile of dhclient loaded, or does not show it' };
  return {
    ok: mode !== 'enforce',
    detail: `dhclient's AppArmor profile (${mode}) lacks the addition of deploy/apparmor in ${profileAddition}: leases are kept, but each event leaves a denial in the host's log`,
  };
}

/** Reads what is there; nothing of it is needed. */
export async function dhclientProfile(): Promise<DhclientProfile> {
  const [enabled, profiles, addition] = await Promise.all([
    readText('/sys/module/apparmor/parameters/enabled'),
    readText('/sys/kernel/security/apparmor/profiles'),
    readText(profileAddition),
  ]);
  return { enabled: enabled.startsWith('Y'), mode: profileMode(profiles), addition: allowsScript(addition) };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    // Absent or not for us: either way AppArmor shows nothing here.
    return '';
  }
}
