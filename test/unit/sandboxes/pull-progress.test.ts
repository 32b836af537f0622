import { describe, expect, it } from 'vitest';
import { PullProgress } from '../../../src/sandboxes/pull-progress.js';

function after(...lines: object[]): PullProgress {
  const progress = new PullProgress();
  for (const line of lines) progress.take(line);
  return progress;
}

const pulling = { status: 'Pulling from pause', id: '3.10' };
const layers = [
  { status: 'Pulling fs layer', progressDetail: {}, id: 'aaa' },
  { status: 'Pulling fs layer', progressDetail: {}, id: 'bbb' },
];

describe('the progress of a pull', () => {
  it('begins with the layers that Docker names, not with the tag', () => {
    expect(after(pulling, ...layers).summary()).toBe('0 of 2 layers, 0.0 of 0.0 MB');
  });

  it('counts what has come of each layer', () => {
    const progress = after(
      pulling,
      ...layers,
      { status: 'Downloading', progressDetail: { current: 500_000, total: 2_000_000 }, id: 'aaa' },
      { status: 'Downloading', progressDetail: { current: 1_250_000, total: 2_000_000 }, id: 'aaa' },
      { status: 'Downloading', progressDetail: { current: 100_000, total: 400_000 }, id: 'bbb' },
    );
    expect(progress.summary()).toBe('0 of 2 layers, 1.4 of 2.4 MB');
  });

  it('holds a layer to be done when it is unpacked, and has all of it once it is downloaded', () => {
    const progress = after(
      pulling,
      ...layers,
      { status: 'Downloading', progressDetail: { current: 1, total: 2_000_000 }, id: 'aaa' },
      { status: 'Download complete', progressDetail: {}, id: 'aaa' },
      { status: 'Extracting', progressDetail: { current: 32_768, total: 2_000_000 }, id: 'aaa' },
    );
    expect(progress.summary()).toBe('0 of 2 layers, 2.0 of 2.0 MB');
    progress.take({ status: 'Pull complete', progressDetail: {}, id: 'aaa' });
    progress.take({ status: 'Already exists', progressDetail: {}, id: 'bbb' });
    expect(progress.summary()).toBe('2 of 2 layers, 2.0 of 2.0 MB');
  });

  it('passes over lines that are about no layer', () => {
    expect(after({ status: 'Digest: sha256:abc' }, { status: 'Status: Downloaded newer image' }).summary()).toBe(
      '0 of 0 layers, 0.0 of 0.0 MB',
    );
  });

  it('keeps the error that ends an answer which began well', () => {
    expect(after(pulling, { error: 'manifest unknown', errorDetail: { message: 'manifest unknown' } }).error).toBe(
      'manifest unknown',
    );
    expect(after(pulling).error).toBeUndefined();
  });
});
