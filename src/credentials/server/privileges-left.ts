/** What a thread may still do beyond what `id` can, by its /proc/<pid>/status (proc(5)); empty when nothing. Pure. */
export function privilegesLeft(status: string, id: number): string[] {
  const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)?.[1]?.trim();
  const ids = Array.from({ length: 4 }, () => id).join('\t');
  const left: string[] = [];
  for (const name of ['Uid', 'Gid']) if (field(name) !== ids) left.push(`${name} is ${field(name)}`);
  if (field('Groups') !== '') left.push(`Groups is ${field('Groups')}`);
  for (const name of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'])
    if (!/^0+$/.test(field(name) ?? '')) left.push(`${name} is ${field(name)}`);
  if (field('NoNewPrivs') !== '1') left.push('no_new_privs is not set');
  return left;
}
