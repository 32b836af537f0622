import { type EniIdentity, findInTask } from '../eni/eni-search.js';
import { bringHome } from '../eni/bring-home.js';
import { moveIn } from '../eni/move-in.js';
import { TaskEniError } from '../errors.js';
import type { Link } from '../kernel/link-message.js';
import type { AttachmentRecord, EniDevice } from '../store/record.js';
import type { HostSide } from './host-side.js';
import type { Handler } from './run-plan.js';
import type { Step } from './step.js';
import type { TaskContext } from './task-context.js';

/** Takes the ENI from the host into the task, marked; and home again, as it was. */
export function moveEniStep(host: HostSide): Handler<'move-eni', TaskContext> {
  return {
    async do(step, context) {
      const link = await host.findEni(step.mac);
      const moved = link === undefined ? await findMoved(step, context) : await move(host, link, step, context);
      noteEni(context, { device: deviceOf(moved) });
    },
    async undo(step, context) {
      const session = context.netlink();
      const namespace = context.namespace();
      const home = await bringHome({
        task: session === undefined || namespace === undefined ? undefined : { namespace, session },
        host,
        identity: eniIdentity(context.record, step),
        former: { ...step.former, name: context.record.eni?.hostInterface ?? step.former.name },
        wasMoved: wasMoved(context.record, host),
      });
      if (home !== undefined) noteEni(context, { hostInterface: home.name });
    },
  };
}

/** How the ENI of a record is found in its task. */
export function eniIdentity(
  { eni }: AttachmentRecord,
  { mac, alias }: Pick<Step<'move-eni'>, 'mac' | 'alias'>,
): EniIdentity {
  const device = eni?.device ?? { index: null, kind: null, peerIndex: null, permanentMac: null };
  return { mac, alias, ...device };
}

/** Whether the ENI, found on the host without our mark, surely comes from the task, which may have taken the mark off. */
function wasMoved(record: AttachmentRecord, { bootId }: HostSide): boolean {
  return record.bootId === bootId && record.eni?.device !== null;
}

async function move(host: HostSide, link: Link, step: Step<'move-eni'>, context: TaskContext): Promise<Link> {
  const { former } = step;
  // udev may have renamed it since the plan was made; it is to come home under its last name.
  if (link.name !== former.name) noteEni(context, { hostInterface: link.name });
  return moveIn({
    host: host.session,
    link,
    task: context.openNetlink(),
    taskNamespace: context.openNamespace(),
    alias: step.alias,
    temporaryName: `te${context.hash.slice(0, 12)}`,
  });
}

async function findMoved(step: Step<'move-eni'>, context: TaskContext): Promise<Link> {
  const link = findInTask(await context.openNetlink().links(), eniIdentity(context.record, step));
  if (link !== undefined) return link;
  throw new TaskEniError('step-failed', `the link with the MAC ${step.mac} has left the host`);
}

function deviceOf({ index, kind, peerIndex, permanentMac }: Link): EniDevice {
  return { index, kind: kind ?? null, peerIndex: peerIndex ?? null, permanentMac: permanentMac ?? null };
}

function noteEni(context: TaskContext, change: Partial<NonNullable<AttachmentRecord['eni']>>): void {
  const { eni } = context.record;
  if (eni !== null) context.update({ eni: { ...eni, ...change } });
}
