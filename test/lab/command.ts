/** Runs a program to its end; the lab's only way to do so. */
import { spawn } from 'node:child_process';

export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly command: string;
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;

  constructor(command: string, code: number | string | null, stdout: string, stderr: string) {
    super(`${command}: ended with ${code}: ${(stderr || stdout).trim().slice(-2000)}`);
    this.command = command;
    this.code = code;
    this.stdout = stdout;
    this.stderr = stderr;
  }
}

export interface CommandOptions {
  /** Given on standard input. */
  readonly input?: string;
  readonly env?: Record<string, string>;
  /** Milliseconds after which it is killed; 60,000 unless given. */
  readonly timeout?: number;
  readonly cwd?: string;
}

/** What the program wrote to standard output. Throws {@link CommandError} unless it ends with 0. */
export function run(command: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: options.timeout ?? 60_000,
      killSignal: 'SIGKILL',
      env: options.env ?? process.env,
      cwd: options.cwd,
    });
    const output: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const stdout = Buffer.concat(output).toString();
      if (code === 0) resolve(stdout);
      else
        reject(
          new CommandError([command, ...args].join(' '), code ?? signal, stdout, Buffer.concat(errors).toString()),
        );
    });
    // A program that ends before it has read everything leaves EPIPE here; its exit status says what matters.
    child.stdin.on('error', (error: NodeJS.ErrnoException) => (error.code === 'EPIPE' ? undefined : reject(error)));
    child.stdin.end(options.input ?? '');
  });
}
