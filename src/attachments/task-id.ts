declare const taskIdBrand: unique symbol;

/** The agent's own name for a task, case-sensitive. Never part of a path or of a kernel name as it is: those carry its hash. */
export type TaskId = string & { readonly [taskIdBrand]: true };

export const taskIdPattern = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,254}$/;

export function parseTaskId(text: string): TaskId | undefined {
  return taskIdPattern.test(text) ? (text as TaskId) : undefined;
}
