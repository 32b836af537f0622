import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsInt, Max, Min } from 'class-validator';
import { Fits, MayBeAbsent } from './field-validators.js';

@ApiSchema({ name: 'ContainerSandbox', description: "A Docker container of the caller's." })
export class ContainerSandboxDto {
  /**
   * Id or name of a running container.
   * @example 4f1c2d3e4b5a
   */
  @ApiProperty({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,254}$' })
  @MayBeAbsent()
  @Fits(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, 255, "a container's id or name")
  containerId: string;
}

@ApiSchema({ name: 'PidSandbox', description: 'The network namespace that a process is in.' })
export class PidSandboxDto {
  /**
   * A process id, in the host's pid namespace.
   * @example 4711
   */
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 4194304 })
  @MayBeAbsent()
  @Max(4_194_304, { message: 'must be a process id' })
  @Min(1, { message: 'must be a process id' })
  @IsInt({ message: 'must be a process id' })
  pid: number;
}

@ApiSchema({ name: 'NetnsSandbox', description: 'A network namespace by its path.' })
export class NetnsSandboxDto {
  /**
   * Path under /run/netns, /var/run/netns or /var/run/docker/netns, or /proc/<pid>/ns/net.
   * @example /run/netns/web-1
   */
  @ApiProperty({ pattern: '^/.*$', maxLength: 1024 })
  @MayBeAbsent()
  @Fits(/^\/[^\p{Cc}]*$/u, 1024, 'the absolute path of a network namespace')
  netns: string;
}

export type SandboxDto = ContainerSandboxDto | PidSandboxDto | NetnsSandboxDto;

/** The class by which a sandbox of a request is checked: that of the one key it has. */
export function sandboxClass(sandbox: unknown): new () => SandboxDto {
  if (typeof sandbox === 'object' && sandbox !== null) {
    if ('pid' in sandbox) return PidSandboxDto;
    if ('netns' in sandbox) return NetnsSandboxDto;
  }
  return ContainerSandboxDto;
}
