import { vi } from 'vitest';

/** Runs a command and gives its exit code and all that it printed. */
export async function printed(command: () => Promise<number>): Promise<{ code: number; out: string; err: string }> {
  const text = { out: '', err: '' };
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => Boolean((text.out += String(chunk))));
  const err = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => Boolean((text.err += String(chunk))));
  try {
    return { code: await command(), ...text };
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
}
