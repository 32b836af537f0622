/** What the decorators cannot say of the API's document. Pure. */
import type { OpenAPIObject } from '@nestjs/swagger';

type Json = Record<string, unknown>;

/** The bodies that callers send: a field that they do not list is refused. */
const requests = [
  'AttachRequest',
  'EniRequest',
  'DnsRequest',
  'ContainerSandbox',
  'PidSandbox',
  'NetnsSandbox',
  'AssumeRoleCredentials',
  'PushedCredentials',
];

export function finishDocument(document: OpenAPIObject): OpenAPIObject {
  const finished = structuredClone(document);
  const schemas = (finished.components?.schemas ?? {}) as Record<string, Json>;
  for (const schema of Object.values(schemas)) {
    for (const [name, property] of Object.entries((schema['properties'] ?? {}) as Record<string, Json>))
      (schema['properties'] as Json)[name] = plainReference(property, schemas);
  }
  for (const name of requests) Object.assign(schemas[name] ?? {}, { additionalProperties: false });
  nameEniEitherWay(schemas);
  return finished;
}

/** An alternative that holds nothing but `required` is, to generators of clients, anything at all: each is a whole schema. */
function nameEniEitherWay(schemas: Record<string, Json>): void {
  const { description, ...whole } = schemas['EniRequest'] ?? {};
  schemas['EniById'] = { ...structuredClone(whole), required: ['id'], description: 'An ENI named by its id.' };
  schemas['EniByMacAddress'] = {
    ...structuredClone(whole),
    required: ['macAddress'],
    description: 'An ENI named by its hardware address.',
  };
  const alternatives = ['EniById', 'EniByMacAddress'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
  schemas['EniRequest'] = { description, anyOf: alternatives };
}

/**
 * A reference wrapped in `allOf` only to carry a description, as the reference alone. A null that goes with it moves to what
 * is referred to: in OpenAPI 3.0.3 (Schema Object, `nullable`) null must be allowed by every schema of an `allOf`.
 */
function plainReference(property: Json, schemas: Record<string, Json>): Json {
  const wrapped = property['allOf'];
  if (!Array.isArray(wrapped) || wrapped.length !== 1) return property;
  const [{ $ref: reference }] = wrapped as [{ $ref: string }];
  if (property['nullable'] === true)
    Object.assign(schemas[reference.split('/').at(-1) ?? ''] ?? {}, { nullable: true });
  return { $ref: reference };
}
