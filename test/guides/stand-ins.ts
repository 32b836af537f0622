/**
 * What stands in the lab for what a reader of the guides has. Nothing else is different from what is written.
 *
 * | in the guides                       | in the lab                                                                            |
 * | ----------------------------------- | ------------------------------------------------------------------------------------- |
 * | an instance with ENIs, metadata     | namespaces of test/lab; STS is told to the service by `AWS_ENDPOINT_URL_STS`          |
 * | a registry of npm's                 | what npm fetched for this checkout, in its cache (`npm_config_offline`)               |
 * | `node:20-bookworm-slim`             | this machine's Node, npm and Debian's programs under that name: node-base.sh          |
 * | `registry.k8s.io/pause:3.10`        | deploy/pause, under that name, on the machine that has it                             |
 * | a machine reached by `ssh host`     | a program `ssh` that runs the command on that machine's engine                        |
 * | an editor (`systemctl edit`)        | `cp`, which writes what the guide says is to be in the file                           |
 * | `my-image`                          | busybox that prints its credentials and addresses, under that name                    |
 *
 * and the words below, each in every form that the guide means by it.
 */
const placeholders: Readonly<Record<string, readonly string[]>> = {
  '[taskId]': ['', 'web-1'],
  '[--json]': ['', '--json'],
  'NAME:TAG': ['example/pause:2'],
  REGISTRY: ['registry.lab'],
  NEW: ['0.1.1'],
};

/** Each form that a command of a guide has. */
export function everyForm(command: string): string[] {
  return Object.entries(placeholders).reduce<string[]>(
    (forms, [word, values]) =>
      command.includes(word) ? forms.flatMap((form) => values.map((value) => form.replaceAll(word, value))) : forms,
    [command],
  );
}
