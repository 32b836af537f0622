/** Programs of agents, compiled against the types that openapi-typescript makes of the API's document. */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';

const compilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noUnusedLocals: true,
  noEmitOnError: true,
  module: 'nodenext',
  target: 'es2023',
  types: ['node'],
  // The libraries' own declarations; what is generated here is no declaration file, and is checked.
  skipLibCheck: true,
  rootDir: '.',
  outDir: 'out',
};

/** Makes the folder one whose programs are compiled under strict rules, to `out`. */
export async function writeProject(directory: string): Promise<void> {
  await writeFile(`${directory}/package.json`, JSON.stringify({ type: 'module', private: true }));
  await writeFile(`${directory}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['*.ts'] }));
}

export class GeneratedClient {
  private constructor(readonly directory: string) {}

  /** A folder below node_modules, from which the programs find their libraries. */
  static async generate(): Promise<GeneratedClient> {
    await mkdir(inCheckout('node_modules'), { recursive: true });
    const directory = await mkdtemp(inCheckout('node_modules/.task-eni-agent-'));
    const client = new GeneratedClient(directory);
    await writeProject(directory);
    const generator = inCheckout('node_modules/openapi-typescript/bin/cli.js');
    await run(process.execPath, [generator, inCheckout('openapi/openapi.json'), '-o', `${directory}/task-eni.ts`]);
    return client;
  }

  copy(program: string): Promise<void> {
    return cp(inCheckout(`test/agent/program/${program}`), `${this.directory}/${program}`);
  }

  write(program: string, text: string): Promise<void> {
    return writeFile(`${this.directory}/${program}`, text);
  }

  /** Throws CommandError with what the compiler says. */
  async compile(): Promise<void> {
    const compiler = inCheckout('node_modules/typescript/bin/tsc');
    await run(process.execPath, [compiler, '-p', this.directory], { timeout: 120_000 });
  }

  compiled(program: string): string {
    return `${this.directory}/out/${program.replace(/ts$/, 'js')}`;
  }

  remove(): Promise<void> {
    return rm(this.directory, { recursive: true, force: true });
  }
}
