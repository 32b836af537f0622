/** Which tasks a listing or a stream shows. Pure. */
import type { AttachmentRecord } from '../store/record.js';
import type { TaskFilterDto } from './query.dto.js';

/** Any of the states, all of the labels. */
export function matches(record: AttachmentRecord, filter: TaskFilterDto): boolean {
  if (filter.state !== undefined && !filter.state.includes(record.state)) return false;
  return (filter.label ?? []).every((label) => {
    const [key = '', ...value] = label.split('=');
    return Object.hasOwn(record.request.labels, key) && record.request.labels[key] === value.join('=');
  });
}
