import { expect, it } from 'vitest';
import { Operations } from '../../../src/attachments/operations.js';
import { record } from './example-records.js';

it('none is begun once they are closed, while those under way go on to their end', async () => {
  const operations = new Operations();
  const task = record({ state: 'READY' });
  let finish = () => {};
  const wait = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { settled } = operations.run(task.hash, 'attach', async () => {
    await wait;
    return task;
  });
  operations.close(new Error('stopping'));
  expect(() => operations.run('other', 'undo', async () => task)).toThrow('stopping');
  expect(() => operations.mend('other', async () => {})).toThrow('stopping');
  expect(operations.all()).toHaveLength(1);
  finish();
  expect(await settled).toBe(task);
  expect(operations.all()).toEqual([]);
});

it('a task that is mended is held like one that is attached', async () => {
  const operations = new Operations();
  const mend = operations.mend('web', async () => {});
  expect(operations.get('web')).toBe(mend);
  expect(() => operations.mend('web', async () => {})).toThrow('under way');
  await mend.settled;
  expect(operations.get('web')).toBeUndefined();
});
