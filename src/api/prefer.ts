/** Whether a Prefer header asks for `respond-async` (RFC 7240: a list of preferences, names in either case, each with parameters after `;`). */
export function prefersAsync(header: string | undefined): boolean {
  if (header === undefined) return false;
  return header.split(',').some((preference) => preference.split(';', 1)[0]?.trim().toLowerCase() === 'respond-async');
}
