import { createHash } from 'node:crypto';
import type { WantedOutput } from '../../src/driver/driver.js';
import type { RequestInfo } from '../../src/driver/sandbox/api-server/request-info.js';
import type { ResponseBody } from '../../src/driver/sandbox/api-server/response-body.js';
import { ApiServerFaults, type ContainerScript } from '../helpers/api-server.js';
import type { BodyFault, RequestMatch } from '../helpers/api-server-faults.js';

export const MiB = 1024 * 1024;

/** So many bytes of text that compresses badly and repeats nowhere; the same for the same name. */
export function textOf(name: string, bytes: number): string {
  const parts: string[] = [];
  for (let count = 0; parts.length * 64 < bytes; count++) {
    parts.push(createHash('sha256').update(`${name} ${count}`).digest('hex'));
  }
  return parts.join('').slice(0, bytes);
}

export function wanted(...names: readonly string[]): WantedOutput[] {
  return names.map((name) => ({ name, path: `/cnab/app/outputs/${name}`, sensitive: false }));
}

/** A bundle that writes these files and ends. */
export function writes(files: Readonly<Record<string, string>>, exitCode = 0): ContainerScript {
  return ({ write }) => {
    for (const [name, text] of Object.entries(files)) write(`/cnab/app/outputs/${name}`, text);
    return exitCode;
  };
}

/** What the line makes of a piece of a log; may wait. `end`: the answer ends, cleanly; `reset`: the connection breaks. */
type Passage = (chunk: Buffer, request: RequestInfo) => Passed | Promise<Passed>;
type Passed = readonly Buffer[] | 'end' | 'reset';

/** The sidecar's log, changed on its way to the client. */
export class ChangedLog extends ApiServerFaults {
  readonly #passage: Passage;

  constructor(passage: Passage) {
    super();
    this.#passage = passage;
  }

  override body(request: RequestInfo, body: ResponseBody): ResponseBody;
  override body(match: RequestMatch, fault: BodyFault): void;
  override body(first: RequestInfo | RequestMatch, second: ResponseBody | BodyFault): ResponseBody | void {
    if ('then' in second) return super.body(first as RequestMatch, second);
    const request = first as RequestInfo;
    const body = super.body(request, second);
    if (request.subresource !== 'log' || request.query.get('container') !== 'outputs') return body;
    const write = async (chunk: Uint8Array): Promise<boolean> => {
      const passed = await this.#passage(Buffer.from(chunk), request);
      if (passed === 'end' || passed === 'reset') {
        body[passed]();
        return false;
      }
      for (const piece of passed) if (!(await body.write(piece))) return false;
      return true;
    };
    return { ...body, write };
  }
}

/** Gives the sidecar of each pod further variables, as a test that has no minute to wait needs them. */
export function setSidecar(faults: ApiServerFaults, variables: Readonly<Record<string, string>>): void {
  faults.onAdmission((kind, object) => {
    if (kind !== 'pods') return object;
    const spec = object['spec'] as { initContainers: { name: string; env: { name: string }[] }[] };
    const given = Object.entries(variables).map(([name, value]) => ({ name, value }));
    const initContainers = spec.initContainers.map((container) => {
      if (container.name !== 'outputs') return container;
      const kept = container.env.filter(({ name }) => !(name in variables));
      return { ...container, env: [...kept, ...given] };
    });
    return { ...object, spec: { ...spec, initContainers } };
  });
}

/** Large texts as their digests and sizes, to compare without printing them. */
export function digests(files: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(files).map(([name, text]) => [
    name,
    `${text.length} ${createHash('sha256').update(text).digest('hex')}`,
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}
